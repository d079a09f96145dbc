import { AppError, badRequest } from '../../../core/errors.ts';
import { isWiseName } from '../../../core/referrals/payout-formats.ts';
import type { CommissionType } from '../../../core/referrals/terms.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import {
  type ChangeOrigin,
  type Enrollment,
  hasOtherCurrency,
  lockEnrollment,
  updateEnrollment,
} from '../../../sql/referrals/enrollments.ts';
import { lockProgramShared, type Program, programById } from '../../../sql/referrals/programs.ts';
import { moveReferralLinks } from '../../../sql/referrals/referral-links.ts';
import { requireEmail } from '../enroll.ts';
import { offeredMethod, setPayoutMethod } from '../payout-method.ts';
import { requireRate } from '../programs/settings.ts';
import type { EnrollmentChange } from './schemas.ts';
import { noSuchEnrollment } from './service.ts';

/**
 * Changes a referrer for a merchant. A suspended one keeps the earned rewards, which are paid once it is approved.
 *
 * @throws {AppError} `not_found`; `bad_request` that names the field; `method_not_offered`; `conflict` when the other
 *   program has another currency than the referrer's rewards or referees
 */
export async function changeEnrollment(
  tx: Queryable,
  workspaceId: string,
  given: { id: string; change: EnrollmentChange },
  origin: ChangeOrigin,
): Promise<Enrollment> {
  const { id, change } = given;
  const known = await lockEnrollment(tx, workspaceId, id);
  if (!known) throw noSuchEnrollment();
  if (change.email !== undefined) requireEmail('email', change.email);
  if (change.payout_name != null) requirePayoutName(change.payout_name);
  const program = await programAfter(tx, known, change);
  const terms = ownTerms(known, change, program);
  const changed = await updateEnrollment(
    tx,
    known,
    {
      ...(change.status !== undefined && { status: change.status }),
      ...(change.email !== undefined && { email: change.email.trim() }),
      ...(change.payout_name !== undefined && { payout_name: change.payout_name?.trim() ?? null }),
      program_id: program.id,
      commission_type: terms?.type ?? null,
      commission_rate: terms?.rate ?? null,
    },
    origin,
  );
  if (program.id !== known.program_id) await moveReferralLinks(tx, known.id, program);
  if (change.payout_method === undefined) return changed;
  const { method, email } = change.payout_method;
  requireEmail('payout_method.email', email);
  const address = { method: offeredMethod(program, method), email: email.trim(), isTrusted: true };
  return setPayoutMethod(tx, changed, address, origin);
}

/** @throws {AppError} `bad_request` when Wise would refuse the name */
function requirePayoutName(name: string): void {
  if (isWiseName(name)) return;
  throw badRequest(
    'payout_name',
    'must be a full name as Wise takes it: it begins with a letter, and two words have two letters or more',
  );
}

/** Returns the program of the referrer after the change. Its currency stays until the transaction ends. */
async function programAfter(tx: Queryable, known: Enrollment, change: EnrollmentChange): Promise<Program> {
  const { workspace_id: workspaceId, program_id: current } = known;
  const id = change.program_id ?? current;
  if (id !== current && !(await programById(tx, workspaceId, id))) {
    throw new AppError('not_found', 'the workspace has no such program');
  }
  const program = await lockProgramShared(tx, workspaceId, id);
  if (id !== current && (await hasOtherCurrency(tx, known.id, program.terms.currency))) {
    throw new AppError(
      'conflict',
      `program ${id} pays ${program.terms.currency}, and the referrer has rewards or referees in another currency`,
    );
  }
  return program;
}

/** Returns the referrer's own commission after the change; null: the program's. */
function ownTerms(
  known: Enrollment,
  { commission_type: givenType, commission_rate: givenRate }: EnrollmentChange,
  program: Program,
): { type: CommissionType; rate: number } | null {
  const rate = givenRate === undefined ? known.commission_rate : givenRate;
  if (rate === null) {
    if (givenType !== undefined) throw badRequest('commission_type', 'must come with `commission_rate`');
    return null;
  }
  const type = givenType ?? known.commission_type ?? program.terms.commissionType;
  requireRate('commission_rate', type, rate, program.terms.currency);
  return { type, rate };
}
