import type { Command } from 'commander';
import type { EnrollmentStatus } from '../../core/referrals/terms.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { type Enrollment, lockEnrollmentOfUser, updateEnrollment } from '../../sql/referrals/enrollments.ts';
import { deleteEnrollment } from '../../sql/transactions/delete-enrollment.ts';
import { findWorkspace } from '../../sql/workspaces/workspaces.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** The output of `hoplog enrollment suspend` and `approve`. */
export type EnrollmentResult = {
  enrollment: Pick<
    Enrollment,
    'id' | 'program_id' | 'external_user_id' | 'email' | 'tier' | 'status' | 'reward_mode'
  >;
};

/**
 * Suspends or approves a referrer. While suspended, the referrer's link redirects and earns nothing. Earlier earnings
 * are kept and paid out after approval.
 *
 * @param given.workspace id or slug
 * @throws Error when the workspace does not exist or the user is not enrolled in it
 */
export async function setStatus(
  pool: Pool,
  given: { workspace: string; externalUserId: string; status: EnrollmentStatus },
): Promise<EnrollmentResult> {
  const workspace = await findWorkspace(pool, given.workspace);
  if (!workspace) throw new Error(`no workspace has the id or slug ${JSON.stringify(given.workspace)}`);
  return inTransaction(pool, async (tx) => {
    const known = await lockEnrollmentOfUser(tx, workspace.id, given.externalUserId);
    if (!known)
      throw new Error(`user ${given.externalUserId} is not enrolled in workspace ${workspace.slug}`);
    const changed = await updateEnrollment(
      tx,
      known,
      { status: given.status },
      { now: new Date(), by: 'operator' },
    );
    await recordOperator(tx, {
      workspaceId: workspace.id,
      action: given.status === 'suspended' ? 'enrollment.suspend' : 'enrollment.approve',
      target: { type: 'enrollment', id: changed.id },
    });
    const { id, program_id, external_user_id, email, tier, status, reward_mode } = changed;
    return { enrollment: { id, program_id, external_user_id, email, tier, status, reward_mode } };
  });
}

/**
 * Erases a referrer: name, emails, device and addresses. Ids and amounts stay.
 *
 * @param given.workspace id or slug
 * @throws Error when the workspace does not exist or the user is not enrolled in it
 */
export async function erase(
  pool: Pool,
  given: { workspace: string; externalUserId: string },
): Promise<{ deleted: true; partner_id: string }> {
  const workspace = await namedWorkspace(pool, given.workspace);
  return inTransaction(pool, async (tx) => {
    const known = await lockEnrollmentOfUser(tx, workspace.id, given.externalUserId);
    if (!known)
      throw new Error(`user ${given.externalUserId} is not enrolled in workspace ${workspace.slug}`);
    await deleteEnrollment(tx, known, { now: new Date(), by: 'operator' });
    await recordOperator(tx, {
      workspaceId: workspace.id,
      action: 'enrollment.delete',
      target: { type: 'enrollment', id: known.id },
    });
    return { deleted: true, partner_id: known.id };
  });
}

const STATUS_OF = { suspend: 'suspended', approve: 'approved' } as const;

/** `hoplog enrollment suspend | approve`. */
export function enrollmentCommands(program: Command): void {
  const group = program.command('enrollment').description('referrers of a workspace');
  for (const verb of ['suspend', 'approve'] as const) {
    group
      .command(verb)
      .description(
        verb === 'suspend'
          ? 'stop rewards and payouts of a referrer; the link still redirects'
          : 'resume rewards and payouts of a suspended referrer',
      )
      .requiredOption('--workspace <id>', 'id or slug')
      .requiredOption('--external-user-id <id>', "the workspace's own id of the user")
      .action(async (options: { workspace: string; externalUserId: string }, command: Command) => {
        const result = await withStores(({ pool }) =>
          setStatus(pool, { ...options, status: STATUS_OF[verb] }),
        );
        printResult(command, result, ({ enrollment }) =>
          table(
            ['id', 'user', 'status', 'reward mode'],
            [[enrollment.id, enrollment.external_user_id, enrollment.status, enrollment.reward_mode]],
          ),
        );
      });
  }
  group
    .command('delete')
    .description('erase the personal data of a referrer; ids and amounts stay')
    .requiredOption('--workspace <id>', 'id or slug')
    .requiredOption('--external-user-id <id>', "the workspace's own id of the user")
    .action(async (options: { workspace: string; externalUserId: string }, command: Command) => {
      const result = await withStores(({ pool }) => erase(pool, options));
      printResult(command, result, ({ partner_id }) => `referrer ${partner_id} is erased`);
    });
}
