import { AppError, badRequest } from '../../../core/errors.ts';
import { checkAll } from '../../../core/faults.ts';
import type { DestinationRules } from '../../../core/links/destinations.ts';
import type { Portal } from '../../../core/referrals/portal.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { type KeptTerms, listTerms, termsVersions } from '../../../sql/referrals/program-terms.ts';
import { lockProgram } from '../../../sql/referrals/programs.ts';
import { lockWorkspace } from '../../../sql/workspaces/workspaces.ts';
import { requireTermsUrl } from './portal-settings.ts';
import { changeProgram, noSuchProgram } from './service.ts';
import type { TermsBody, TermsRecord } from './terms-schemas.ts';

/** Returns a version of terms as the API shows it. @param portal of the program, which has the present version */
export const termsRecord = (terms: KeptTerms, portal: Portal): TermsRecord => ({
  ...terms,
  is_current: terms.version === portal.terms_version,
});

/**
 * Makes new terms the present ones of a program: applicants accept them, and affiliates are asked to.
 *
 * @throws {AppError} `not_found`; `bad_request`; `conflict` when the program has these very terms and no other version
 *   is named
 */
export async function publishTerms(
  tx: Queryable,
  workspaceId: string,
  id: string,
  body: TermsBody,
  rules: DestinationRules & { now: Date },
): Promise<TermsRecord> {
  checkTerms(body);
  const content = { terms_url: body.url ?? null, terms_text: body.text ?? null };
  // As in every change of a program: the same lock order prevents deadlocks.
  await lockWorkspace(tx, workspaceId);
  const program = await lockProgram(tx, workspaceId, id);
  if (!program) throw noSuchProgram();
  const { terms_url, terms_text, terms_version } = program.portal;
  const taken = await termsVersions(tx, id);
  if (body.version !== undefined && taken.has(body.version))
    throw badRequest('version', 'names earlier terms of the program; name another version');
  const isPresent = terms_url === content.terms_url && terms_text === content.terms_text;
  if (isPresent && body.version === undefined)
    throw new AppError('conflict', `the program has these terms already, as version ${terms_version}`);
  const portal = { ...content, terms_version: body.version ?? nextVersion(taken) };
  const changed = await changeProgram(tx, workspaceId, id, { portal }, rules);
  const page = { version: portal.terms_version, before: null, limit: 1 };
  const [kept] = await listTerms(tx, id, page);
  if (!kept) throw new Error(`the terms ${portal.terms_version} of ${id} were not kept`);
  return termsRecord(kept, changed.portal);
}

/**
 * Checks the body of new terms.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkTerms({ url, text }: TermsBody, faulty: ReadonlySet<string> = new Set()): void {
  checkAll([
    () => {
      if (url !== undefined && text !== undefined)
        throw badRequest('text', 'must not come with `url`: the terms are in one place');
    },
    () => url !== undefined && requireTermsUrl('url', url),
    () => {
      if (url === undefined && text === undefined && !faulty.has('url') && !faulty.has('text'))
        throw badRequest('text', 'is required, or `url`');
    },
  ]);
}

/** Returns a number as the name of the next version. The owner may have given some numbers as names. */
function nextVersion(taken: ReadonlySet<string>): string {
  let number = taken.size + 1;
  while (taken.has(String(number))) number += 1;
  return String(number);
}
