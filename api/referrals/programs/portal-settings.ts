import { badRequest } from '../../../core/errors.ts';
import { readEach } from '../../../core/faults.ts';
import type { Portal } from '../../../core/referrals/portal.ts';
import type { PortalSettings } from './portal-schemas.ts';

/** Names that every application has. */
const OWN_FIELDS: readonly string[] = ['email', 'name'];

/** Checks the fields that a portal asks for. @throws {AppError} `bad_request` that names every fault */
export function checkFields(fields: Portal['fields']): void {
  readEach(fields, ({ name }, n) => {
    const path = `portal.fields.${n}.name`;
    if (OWN_FIELDS.includes(name)) throw badRequest(path, `must not be ${name}, which is always asked`);
    if (fields.findIndex((one) => one.name === name) < n) throw badRequest(path, 'must not repeat another');
  });
}

/** Checks that the terms of a portal fit each other. @throws {AppError} `bad_request` that names the field */
export function checkPortal(current: Portal, change: PortalSettings): void {
  const { terms_url, terms_text, terms_version } = { ...current, ...change };
  if (terms_url !== null && terms_text !== null)
    throw badRequest('portal.terms_text', 'must not come with `terms_url`: the terms are in one place');
  const hasTerms = terms_url !== null || terms_text !== null;
  if (hasTerms && terms_version === null) throw badRequest('portal.terms_version', 'is required with terms');
  if (!hasTerms && terms_version !== null)
    throw badRequest('portal.terms_version', 'must be null without `terms_url` and `terms_text`');
  const isOther = terms_url !== current.terms_url || terms_text !== current.terms_text;
  if (hasTerms && isOther && terms_version === current.terms_version)
    throw badRequest('portal.terms_version', 'must be another one than that of the former terms');
}

/** @throws {AppError} `bad_request` that names the field */
export function requireTermsUrl(path: string, url: string): void {
  if (URL.parse(url)?.protocol !== 'https:') throw badRequest(path, 'must begin with https://');
}
