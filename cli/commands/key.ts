import { type Command, Option } from 'commander';
import { AppError } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import {
  createKey,
  type KeyRecord,
  listKeys,
  revokeKey,
  type WorkspaceKeyKind,
} from '../../sql/workspaces/keys.ts';
import { printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

const describe = (keys: KeyRecord[]) =>
  table(
    ['id', 'kind', 'label', 'created', 'last used', 'revoked'],
    keys.map((key) => [
      key.id,
      key.kind,
      key.label || '-',
      key.created_at.toISOString(),
      key.last_used_at?.toISOString() ?? '-',
      key.revoked_at?.toISOString() ?? '-',
    ]),
  );

/** `hoplog key create | list | revoke`. */
export function keyCommands(program: Command): void {
  const group = program.command('key').description('workspace keys');
  group
    .command('create')
    .description('create a key; its token is shown once')
    .requiredOption('--workspace <id>', 'id or slug')
    .addOption(
      new Option('--kind <kind>', 'kind of key').choices(['secret', 'publishable']).makeOptionMandatory(),
    )
    .option('--label <label>', 'description of the key', '')
    .action(
      async (options: { workspace: string; kind: WorkspaceKeyKind; label: string }, command: Command) => {
        const result = await withStores(async ({ pool }) => {
          const workspace = await namedWorkspace(pool, options.workspace);
          return createKey(pool, { workspaceId: workspace.id, kind: options.kind, label: options.label });
        });
        printResult(
          command,
          result,
          (made) => `${describe([made.key])}\n\n${made.token}\nThe token is shown only once.`,
        );
      },
    );

  group
    .command('list')
    .description('list the keys of a workspace, including revoked ones')
    .requiredOption('--workspace <id>', 'id or slug')
    .action(async (options: { workspace: string }, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const workspace = await namedWorkspace(pool, options.workspace);
        return { keys: await listKeys(pool, workspace.id) };
      });
      printResult(command, result, ({ keys }) => describe(keys));
    });

  group
    .command('revoke')
    .description('revoke a key immediately')
    .requiredOption('--key <id>', 'id of the key')
    .action(async (options: { key: string }, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const key = isUuid(options.key) ? await revokeKey(pool, options.key) : null;
        if (!key) throw new AppError('not_found', `no key has the id ${JSON.stringify(options.key)}`);
        return { key };
      });
      printResult(command, result, ({ key }) => describe([key]));
    });
}
