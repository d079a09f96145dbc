import { type Command, InvalidArgumentError, Option } from 'commander';
import { ROLES, type Role } from '../../core/access/roles.ts';
import { inviteUrl } from '../../core/access/session-tokens.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import { createInvite } from '../../sql/console/invites.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { createOutbox } from '../../sql/mail/outbox.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

function email(text: string): string {
  if (!isEmail(text)) throw new InvalidArgumentError('must be an email address');
  return normalizeEmail(text);
}

type InviteOptions = { workspace: string; email?: string; role: Role; mail: boolean };

/** `hoplog console invite`. */
export function consoleCommands(program: Command): void {
  const group = program.command('console').description('access to the console');
  group
    .command('invite')
    .description(
      'create a sign-in link that works once: mailed with a mail server and --email, for 3 days, else shown, for 15 minutes',
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .option('--email <email>', 'email of the new member, or of a member who has lost access', email)
    .addOption(new Option('--role <role>', 'role of a new member').choices(ROLES).default('owner'))
    .option('--no-mail', 'show the link, also with a mail server')
    .action(async (options: InviteOptions, command: Command) => {
      const result = await withStores(async ({ pool, config }) => {
        const workspace = await namedWorkspace(pool, options.workspace);
        const { email: recipient = null, role: asked } = options;
        const isMailed = options.mail && recipient !== null && config.mail !== null;
        const given = { workspaceId: workspace.id, email: recipient, role: asked, isMailed };
        const { invite, token } = await inTransaction(pool, async (tx) => {
          const made = await createInvite(tx, given);
          await recordOperator(tx, {
            workspaceId: workspace.id,
            action: 'invite.create',
            target: { type: 'invite', id: made.invite.id },
            details: { role: made.invite.role },
          });
          const { role, expires_at } = made.invite;
          const content = {
            kind: 'invitation',
            url: inviteUrl(config.appUrl, made.token),
            role,
            invitedBy: null,
            expiresAt: expires_at.toISOString(),
          } as const;
          if (isMailed)
            await createOutbox(true).queue(tx, [{ workspaceId: workspace.id, recipient, content }]);
          return made;
        });
        const { expires_at, role, email, workspace_id } = invite;
        const url = isMailed ? null : inviteUrl(config.appUrl, token);
        return { invite: { url, mailed: isMailed, expires_at, role, email, workspace_id } };
      });
      printResult(command, result, ({ invite }) => {
        const row = [invite.role, invite.email ?? '-', invite.expires_at.toISOString()];
        const where = invite.url ?? `The link is mailed to ${invite.email}.`;
        return `${table(['role', 'email', 'expires'], [row])}\n\n${where}\nThe link works once.`;
      });
    });
}
