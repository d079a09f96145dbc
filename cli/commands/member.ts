import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { memberByEmail } from '../../sql/console/members.ts';
import { unlinkIdentities } from '../../sql/console/provider-identities.ts';
import { deleteTwoFactor } from '../../sql/console/two-factor.ts';
import { inTransaction, type PoolClient } from '../../sql/database/pool.ts';
import { printResult } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

type Named = { workspace: string; email: string };

/** `hoplog member reset-two-factor | unlink`. */
export function memberCommands(program: Command): void {
  const member = program.command('member').description('members of the console');
  ofMember(member.command('reset-two-factor'))
    .description('turn off two-factor sign-in for a member who lost the app and the recovery codes')
    .action(async (options: Named, command: Command) => {
      const { memberId, isChanged } = await changeMember(options, deleteTwoFactor, 'two_factor.disable');
      printResult(command, { member_id: memberId, reset: isChanged }, ({ reset }) =>
        reset ? 'two-factor sign-in is off for this member' : 'two-factor sign-in was off already',
      );
    });
  ofMember(member.command('unlink'))
    .description("end a member's tie to the identity provider; the next sign-in there makes a new one")
    .action(async (options: Named, command: Command) => {
      const { memberId, isChanged } = await changeMember(options, unlinkIdentities, 'member.unlink');
      printResult(command, { member_id: memberId, unlinked: isChanged }, ({ unlinked }) =>
        unlinked
          ? 'the tie has ended: the next sign-in at the provider with this email makes a new one'
          : 'this member was not tied to the identity provider',
      );
    });
}

const ofMember = (command: Command): Command =>
  command
    .requiredOption('--workspace <id>', 'id or slug')
    .requiredOption('--email <email>', 'email of the member', normalizeEmail);

/** Changes a member and writes the audit entry, if anything changed. @throws {AppError} `not_found` */
async function changeMember(
  { workspace, email }: Named,
  change: (tx: PoolClient, memberId: string) => Promise<boolean>,
  action: string,
): Promise<{ memberId: string; isChanged: boolean }> {
  return withStores(async ({ pool }) => {
    const { id: workspaceId } = await namedWorkspace(pool, workspace);
    return inTransaction(pool, async (tx) => {
      const member = await memberByEmail(tx, workspaceId, email);
      if (!member) throw new AppError('not_found', `the workspace has no member ${email}`);
      const isChanged = await change(tx, member.id);
      const entry = { workspaceId, action, target: { type: 'member', id: member.id } };
      if (isChanged) await recordOperator(tx, entry);
      return { memberId: member.id, isChanged };
    });
  });
}
