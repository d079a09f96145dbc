import { badRequest } from '../../../core/errors.ts';
import { METHOD_OF_FORMAT } from '../../../core/referrals/payout-formats.ts';
import { requireInstant } from '../../../core/time/timestamps.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { programById } from '../../../sql/referrals/programs.ts';
import {
  exportPayouts,
  type PayoutFile,
  type PayoutScope,
} from '../../../sql/transactions/export-payouts.ts';
import { noSuchProgram } from '../programs/service.ts';
import { FORMATS } from './formats.ts';

/** The requested contents of a payout file. `until`: RFC 3339. */
export type PayoutFileAsked = Omit<PayoutScope, 'until' | 'limit'> & { until: string | null };

/**
 * Creates a payout file and its text in one transaction. A file that its service would refuse is not saved.
 *
 * @throws {AppError} `not_found` when the workspace has no such program; `bad_request` when the service would refuse it
 */
export async function createPayoutFile(
  tx: Queryable,
  workspaceId: string,
  asked: PayoutFileAsked,
  now: Date,
): Promise<PayoutFile & { text: string }> {
  const { programId, format, method } = asked;
  if (programId !== null && !(await programById(tx, workspaceId, programId))) throw noSuchProgram();
  const only = METHOD_OF_FORMAT[format];
  if (only !== null && method !== null && method !== only) {
    throw badRequest('method', `must be ${only} in a file for ${only}`);
  }
  const until = asked.until === null ? null : instantOf('until', asked.until);
  const { maxLines, write } = FORMATS[format];
  const file = await exportPayouts(tx, workspaceId, { ...asked, until, limit: maxLines }, now);
  return { ...file, text: write(file) };
}

function instantOf(path: string, text: string): Date {
  return new Date(Number(requireInstant(path, text) / 1_000_000n));
}
