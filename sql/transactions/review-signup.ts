import { AppError } from '../../core/errors.ts';
import type { Queryable } from '../database/pool.ts';
import { lockEnrollmentShared } from '../referrals/enrollments.ts';
import { programById } from '../referrals/programs.ts';
import { lockSignup, type ReferredSignup, updateSignup } from '../referrals/signups.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { settleReferral } from './record-signup.ts';

/**
 * Ends the review of a signup. An approved one gets its rewards by the present terms, with those of the purchases that
 * waited for it; a rejected one earns nothing.
 *
 * @throws {AppError} `not_found` when the workspace has no such signup; `conflict` when it is not under review
 */
export async function reviewSignup(
  tx: Queryable,
  workspace: Workspace,
  given: { id: string; decision: 'approve' | 'reject'; now: Date },
): Promise<ReferredSignup> {
  const signup = await lockSignup(tx, workspace.id, given.id);
  if (!signup) throw new AppError('not_found', 'the workspace has no such signup');
  if (signup.enrollment_id === null || (signup.state !== 'held' && !signup.rewards_held)) {
    throw new AppError('conflict', 'the signup is not under review');
  }
  const enrollment = await lockEnrollmentShared(tx, workspace.id, signup.enrollment_id);
  const program = await programById(tx, workspace.id, signup.program_id);
  if (!program) throw new Error(`program ${signup.program_id} does not exist`);
  const wasMatched = signup.state === 'matched';
  const blockReason =
    given.decision === 'reject' ? 'rejected' : enrollment.status === 'suspended' ? 'suspended' : null;
  const reviewed = await updateSignup(tx, signup, {
    state: 'matched',
    rewards_held: false,
    block_reason: blockReason,
  });
  if (reviewed.state !== 'matched') throw new Error(`signup ${signup.id} was not reviewed`);
  // The event of a match was sent when it matched.
  const isTold = wasMatched && blockReason === null;
  await settleReferral(tx, workspace, { program, enrollment, signup: reviewed, isTold }, given.now);
  return reviewed;
}
