import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { memberByEmail } from '../../sql/console/members.ts';
import { deleteTwoFactor } from '../../sql/console/two-factor.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { printResult } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** `hoplog member reset-two-factor`. */
export function memberCommands(program: Command): void {
  program
    .command('member')
    .description('members of the console')
    .command('reset-two-factor')
    .description('turn off two-factor sign-in for a member who lost the app and the recovery codes')
    .requiredOption('--workspace <id>', 'id or slug')
    .requiredOption('--email <email>', 'email of the member', normalizeEmail)
    .action(async (options: { workspace: string; email: string }, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const { id: workspaceId } = await namedWorkspace(pool, options.workspace);
        return inTransaction(pool, async (tx) => {
          const member = await memberByEmail(tx, workspaceId, options.email);
          if (!member) throw new AppError('not_found', `the workspace has no member ${options.email}`);
          const reset = await deleteTwoFactor(tx, member.id);
          const entry = {
            workspaceId,
            action: 'two_factor.disable',
            target: { type: 'member', id: member.id },
          };
          if (reset) await recordOperator(tx, entry);
          return { member_id: member.id, reset };
        });
      });
      printResult(command, result, ({ reset }) =>
        reset ? 'two-factor sign-in is off for this member' : 'two-factor sign-in was off already',
      );
    });
}
