import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import { memberByEmail, workspacesOfEmail } from '../../sql/console/members.ts';
import { unlinkIdentities } from '../../sql/console/provider-identities.ts';
import { deleteTwoFactor } from '../../sql/console/two-factor.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import { printResult } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

type Named = { workspace?: string; email: string };

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
    .option('--workspace <id>', 'id or slug; by default the one that has this member')
    .requiredOption('--email <email>', 'email of the member', normalizeEmail);

/** Changes a member and writes the audit entry, if anything changed. @throws {AppError} `not_found` */
async function changeMember(
  { workspace, email }: Named,
  change: (tx: PoolClient, memberId: string) => Promise<boolean>,
  action: string,
): Promise<{ memberId: string; isChanged: boolean }> {
  return withStores(async ({ pool }) => {
    const workspaceId =
      workspace === undefined ? await workspaceOf(pool, email) : (await namedWorkspace(pool, workspace)).id;
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

/** Returns the workspace of a member; of several, the one where the identity provider signs the member in. */
async function workspaceOf(pool: Pool, email: string): Promise<string> {
  const all = await workspacesOfEmail(pool, email);
  if (all.length === 0) throw new AppError('not_found', `no workspace has a member ${email}`);
  const linked = all.filter(({ is_linked }) => is_linked);
  const [only, ...others] = linked.length > 0 ? linked : all;
  if (only === undefined || others.length > 0) {
    const slugs = all.map(({ slug }) => slug).join(', ');
    throw new AppError(
      'conflict',
      `several workspaces have a member ${email}: name one with --workspace (${slugs})`,
    );
  }
  return only.id;
}
