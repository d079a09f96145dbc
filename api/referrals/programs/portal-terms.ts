import { badRequest } from '../../../core/errors.ts';
import type { Portal } from '../../../core/referrals/portal.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { keepTerms, type TermsContent } from '../../../sql/referrals/program-terms.ts';
import type { Program } from '../../../sql/referrals/programs.ts';

function contentOf({ terms_url: url, terms_text: text }: Portal): TermsContent | null {
  if (text !== null) return { url: null, text };
  return url === null ? null : { url, text: null };
}

/**
 * Keeps the present terms of a locked program, for as long as somebody may ask what was accepted.
 *
 * @throws {AppError} `bad_request` when their version names earlier terms
 */
export async function keepPortalTerms(tx: Queryable, program: Program, now: Date): Promise<void> {
  const { portal } = program;
  const content = contentOf(portal);
  if (content === null || portal.terms_version === null) return;
  const isKept = await keepTerms(tx, program, { ...content, version: portal.terms_version }, now);
  if (!isKept)
    throw badRequest('portal.terms_version', 'names earlier terms of the program; name another version');
}
