import { changedFields, formerFields } from '../../parts/changed-fields.ts';
import { cleanAddress } from '../../parts/clean-address.ts';
import type { Domain } from './responses.ts';

/** State of the form of a domain's settings, as typed. Empty: not set. */
export type DomainDraft = {
  is_default: boolean;
  root_url: string;
  not_found_url: string;
  expired_url: string;
  /** JSON. */
  apple_app_site_association: string;
  /** JSON. */
  assetlinks: string;
};

export const draftOf = (domain: Domain): DomainDraft => ({
  is_default: domain.is_default,
  root_url: domain.root_url ?? '',
  not_found_url: domain.not_found_url ?? '',
  expired_url: domain.expired_url ?? '',
  apple_app_site_association: jsonText(domain.apple_app_site_association),
  assetlinks: jsonText(domain.assetlinks),
});

const jsonText = (value: unknown) => (value === null ? '' : JSON.stringify(value, null, 2));

/** What is wrong with the text of an app file; null: nothing. */
export function jsonProblem(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? null : 'must be a JSON object or array';
  } catch (error) {
    // V8 repeats the text and ends with the same words.
    const [why = ''] = (error instanceof Error ? error.message : '').split(/, (?:\.\.\.)?"/);
    return `is not valid JSON: ${why}`;
  }
}

/** The body of `PATCH /domains/:id`: changed fields alone. The files must be valid; see {@link jsonProblem}. */
export function changeBody(before: DomainDraft, draft: DomainDraft): Record<string, unknown> {
  return changedFields<unknown>(bodyOf(before), bodyOf(draft));
}

/** The body that sets the fields of a change back. */
export const backBody = (change: object, before: DomainDraft): Record<string, unknown> =>
  formerFields(change, bodyOf(before));

const bodyOf = (draft: DomainDraft) => ({
  is_default: draft.is_default,
  root_url: cleanAddress(draft.root_url) || null,
  not_found_url: cleanAddress(draft.not_found_url) || null,
  expired_url: cleanAddress(draft.expired_url) || null,
  apple_app_site_association: parsed(draft.apple_app_site_association),
  assetlinks: parsed(draft.assetlinks),
});

const parsed = (text: string): unknown => (text.trim() === '' ? null : JSON.parse(text));
