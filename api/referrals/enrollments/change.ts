import { AppError, badRequest } from '../../../core/errors.ts';
import { checkAll, readAll } from '../../../core/faults.ts';
import { isWiseName } from '../../../core/referrals/payout-formats.ts';
import type { CommissionType } from '../../../core/referrals/terms.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import type { Outbox } from '../../../sql/mail/outbox.ts';
import {
  type ChangeOrigin,
  type Enrollment,
  hasOtherCurrency,
  lockEnrollment,
  updateEnrollment,
} from '../../../sql/referrals/enrollments.ts';
import { lockGroupShared } from '../../../sql/referrals/partner-groups.ts';
import { lockProgramShared, type Program, programById } from '../../../sql/referrals/programs.ts';
import { moveReferralLinks } from '../../../sql/referrals/referral-links.ts';
import { requireEmail } from '../enroll.ts';
import { noSuchGroup } from '../groups/service.ts';
import { offeredMethod, savedMethod, setPayoutMethod } from '../payout-method.ts';
import { requireRate } from '../programs/settings.ts';
import type { EnrollmentChange } from './schemas.ts';
import { noSuchEnrollment } from './service.ts';

/**
 * Changes a referrer for a merchant. A suspended one keeps the earned rewards, which are paid once it is approved.
 *
 * @throws {AppError} `not_found`; `bad_request` that names every fault; `method_not_offered`; `conflict` when the other
 *   program has another currency than the referrer's rewards or referees
 */
export async function changeEnrollment(
  tx: Queryable,
  workspaceId: string,
  given: { id: string; change: EnrollmentChange },
  origin: ChangeOrigin,
  outbox: Outbox,
): Promise<Enrollment> {
  const { id, change } = given;
  // Before the referrer, as the deletion of a group locks them.
  const group = change.group_id ? await lockGroupShared(tx, workspaceId, change.group_id) : null;
  const known = await lockEnrollment(tx, workspaceId, id);
  if (!known) throw noSuchEnrollment();
  if (change.group_id && !group) throw noSuchGroup();
  const email = change.email ?? undefined;
  const program = await programAfter(tx, known, change);
  const { terms } = readAll({
    change: () => checkChange(change),
    removed() {
      if (change.email === null && known.email !== null)
        throw badRequest('email', 'must be an email address');
    },
    payoutMethod() {
      if (change.payout_method === null && savedMethod(known) !== null)
        throw badRequest('payout_method', 'cannot be removed; give another address');
    },
    terms: () => ownTerms(known, change, program),
    group() {
      if (group && group.program_id !== program.id)
        throw badRequest('group_id', "must be a group of the referrer's program");
    },
  });
  const changed = await updateEnrollment(
    tx,
    known,
    {
      ...(change.status !== undefined && { status: change.status }),
      ...(email !== undefined && { email: email.trim() }),
      ...(change.payout_name !== undefined && { payout_name: change.payout_name?.trim() ?? null }),
      program_id: program.id,
      group_id:
        group?.id ?? (change.group_id === null || program.id !== known.program_id ? null : known.group_id),
      commission_type: terms?.type ?? null,
      commission_rate: terms?.rate ?? null,
    },
    origin,
  );
  if (program.id !== known.program_id) await moveReferralLinks(tx, known.id, program);
  const wanted = change.payout_method;
  if (!wanted || isAsShown(known, wanted)) return changed;
  const address = {
    method: offeredMethod(program, wanted.method),
    email: wanted.email.trim(),
    isTrusted: true,
  };
  return setPayoutMethod(tx, changed, address, origin, outbox);
}

/** Checks what does not depend on the referrer. @throws {AppError} `bad_request` that names every fault */
export function checkChange({ email, payout_name: name, payout_method: method }: EnrollmentChange): void {
  checkAll([
    () => requireEmail('email', email ?? null),
    () => (name ?? null) !== null && requirePayoutName(name ?? ''),
    () => method && requireEmail('payout_method.email', method.email),
  ]);
}

/** @throws {AppError} `bad_request` when Wise would refuse the name */
function requirePayoutName(name: string): void {
  if (isWiseName(name)) return;
  throw badRequest(
    'payout_name',
    'must be a full name as Wise takes it: it begins with a letter, and two words have two letters or more',
  );
}

/** Whether a payout method equals the one in a GET of the referrer, whose address is masked. */
function isAsShown(known: Enrollment, given: { method: string; email: string } | null): boolean {
  const shown = savedMethod(known);
  return given === null || shown === null
    ? given === shown
    : given.method === shown.method && given.email === shown.email;
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
    if (givenType !== undefined && givenType !== null)
      throw badRequest('commission_type', 'must come with `commission_rate`');
    return null;
  }
  const type = givenType ?? known.commission_type ?? program.terms.commissionType;
  requireRate('commission_rate', type, rate, program.terms.currency);
  return { type, rate };
}
