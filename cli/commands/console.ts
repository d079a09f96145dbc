import { type Command, InvalidArgumentError, Option } from 'commander';
import { ROLES, type Role } from '../../core/access/roles.ts';
import { inviteUrl } from '../../core/access/session-tokens.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { createInvite } from '../../sql/console/invites.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

function email(text: string): string {
  if (!isEmail(text)) throw new InvalidArgumentError('must be an email address');
  return normalizeEmail(text);
}

/** `hoplog console invite`. */
export function consoleCommands(program: Command): void {
  const group = program.command('console').description('access to the console');
  group
    .command('invite')
    .description('create a sign-in link that works once, within 15 minutes')
    .requiredOption('--workspace <id>', 'id or slug')
    .option('--email <email>', 'email of the new member, or of a member who has lost access', email)
    .addOption(new Option('--role <role>', 'role of a new member').choices(ROLES).default('owner'))
    .action(async (options: { workspace: string; email?: string; role: Role }, command: Command) => {
      const result = await withStores(async ({ pool, config }) => {
        const workspace = await namedWorkspace(pool, options.workspace);
        const given = { workspaceId: workspace.id, email: options.email ?? null, role: options.role };
        const { invite, token } = await inTransaction(pool, async (tx) => {
          const made = await createInvite(tx, given);
          await recordOperator(tx, {
            workspaceId: workspace.id,
            action: 'invite.create',
            target: { type: 'invite', id: made.invite.id },
            details: { role: made.invite.role },
          });
          return made;
        });
        const { expires_at, role, email, workspace_id } = invite;
        return { invite: { url: inviteUrl(config.appUrl, token), expires_at, role, email, workspace_id } };
      });
      printResult(command, result, ({ invite }) => {
        const row = [invite.role, invite.email ?? '-', invite.expires_at.toISOString()];
        return `${table(['role', 'email', 'expires'], [row])}\n\n${invite.url}\nThe link works once.`;
      });
    });
}
