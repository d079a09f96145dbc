import type { Command } from 'commander';
import type { EnrollmentStatus } from '../../core/referrals/terms.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { type Enrollment, lockEnrollmentOfUser, updateEnrollment } from '../../sql/referrals/enrollments.ts';
import { findWorkspace } from '../../sql/workspaces/workspaces.ts';
import { printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';

/** What `hoplog enrollment suspend` and `approve` print. */
export type EnrollmentResult = {
  enrollment: Pick<
    Enrollment,
    'id' | 'program_id' | 'external_user_id' | 'email' | 'tier' | 'status' | 'reward_mode'
  >;
};

/**
 * Suspends or approves a referrer. A suspended one's link still redirects and earns nothing; what was earned before
 * stays, and is paid out once the referrer is approved again.
 *
 * @param given.workspace id or slug
 * @throws Error when there is no such workspace, or the user is not enrolled in it
 */
export async function setStatus(
  pool: Pool,
  given: { workspace: string; externalUserId: string; status: EnrollmentStatus },
): Promise<EnrollmentResult> {
  const workspace = await findWorkspace(pool, given.workspace);
  if (!workspace) throw new Error(`there is no workspace ${given.workspace}`);
  return inTransaction(pool, async (tx) => {
    const known = await lockEnrollmentOfUser(tx, workspace.id, given.externalUserId);
    if (!known)
      throw new Error(`user ${given.externalUserId} is not enrolled in workspace ${workspace.slug}`);
    const changed = await updateEnrollment(tx, known, { status: given.status }, new Date());
    const { id, program_id, external_user_id, email, tier, status, reward_mode } = changed;
    return { enrollment: { id, program_id, external_user_id, email, tier, status, reward_mode } };
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
          ? "let a referrer's link redirect and earn nothing, and pay nothing out"
          : 'let a suspended referrer earn and be paid again',
      )
      .requiredOption('--workspace <id>', 'id or slug')
      .requiredOption('--external-user-id <id>', 'the user, as the workspace calls them')
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
}
