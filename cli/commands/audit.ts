import type { Command } from 'commander';
import { type AuditEntry, listAuditEntries } from '../../sql/audit/audit-log.ts';
import { wholeNumber } from '../arguments.ts';
import { printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

const describe = (entries: AuditEntry[]) =>
  table(
    ['at', 'actor', 'action', 'target'],
    entries.map((entry) => [
      entry.created_at,
      [entry.actor_type, entry.actor_name ?? entry.actor_id].filter(Boolean).join(' '),
      entry.action,
      `${entry.target_type} ${entry.target_id ?? '-'}`,
    ]),
  );

/** `hoplog audit list`. */
export function auditCommands(program: Command): void {
  const group = program.command('audit').description('the audit log');
  group
    .command('list')
    .description('list entries of a workspace, or of the deployment (partners), newest first')
    .option('--workspace <id>', 'id or slug; left out: the deployment')
    .option('--limit <number>', '1 to 1000 entries', wholeNumber(1, 1_000), 100)
    .action(async (options: { workspace?: string; limit: number }, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const named = options.workspace;
        const id = named === undefined ? null : (await namedWorkspace(pool, named)).id;
        return { entries: await listAuditEntries(pool, id, { before: null, limit: options.limit }) };
      });
      printResult(command, result, ({ entries }) => describe(entries));
    });
}
