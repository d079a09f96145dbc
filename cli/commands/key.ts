import { type Command, InvalidArgumentError, Option } from 'commander';
import { KEY_RESTRICTIONS, type KeyRestriction } from '../../core/access/key-scopes.ts';
import { AppError } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { descendantsOf, endDescendants } from '../../sql/workspaces/key-descendants.ts';
import {
  createKey,
  type KeyRecord,
  listKeys,
  revokeKey,
  type WorkspaceKeyKind,
} from '../../sql/workspaces/keys.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

const describe = (keys: KeyRecord[]) =>
  table(
    ['id', 'kind', 'label', 'scopes', 'manage', 'created by', 'created', 'expires', 'last used', 'revoked'],
    keys.map((key) => [
      key.id,
      key.kind,
      key.label || '-',
      key.scopes.join(' '),
      key.manage ? 'yes' : 'no',
      key.created_by.type,
      key.created_at.toISOString(),
      key.expires_at?.toISOString() ?? '-',
      key.last_used_at?.toISOString() ?? '-',
      key.revoked_at?.toISOString() ?? '-',
    ]),
  );

type CreateOptions = {
  workspace: string;
  kind: WorkspaceKeyKind;
  label: string;
  manage: boolean;
  scope?: KeyRestriction[];
  expiresAt?: Date;
};

function expiry(text: string): Date {
  const nanos = parseInstant(text);
  const at = nanos === null ? null : new Date(Number(nanos / 1_000_000n));
  if (at === null || at <= new Date()) {
    throw new InvalidArgumentError('must be a future ISO 8601 date, or date and time with Z or an offset');
  }
  return at;
}

const auditOf = (action: string, key: KeyRecord) => ({
  workspaceId: key.workspace_id,
  action,
  target: { type: 'key', id: key.id },
});

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
    .option('--no-manage', 'a secret key that can not manage keys, members, settings and the identity secret')
    .addOption(
      new Option(
        '--scope <scope...>',
        'restrict a secret key; a restricted key still manages without --no-manage',
      ).choices(KEY_RESTRICTIONS),
    )
    .option('--expires-at <time>', 'when a secret key expires, in ISO 8601', expiry)
    .action(async (options: CreateOptions, command: Command) => {
      const isSecret = options.kind === 'secret';
      if (!isSecret && (options.scope || options.expiresAt)) {
        throw new AppError('bad_request', '--scope and --expires-at are for secret keys only');
      }
      const result = await withStores(async ({ pool }) => {
        const workspace = await namedWorkspace(pool, options.workspace);
        return inTransaction(pool, async (tx) => {
          const made = await createKey(tx, {
            workspaceId: workspace.id,
            kind: options.kind,
            label: options.label,
            manage: isSecret && options.manage,
            restrictions: options.scope ?? null,
            expiresAt: options.expiresAt ?? null,
          });
          await recordOperator(tx, auditOf('key.create', made.key));
          return made;
        });
      });
      printResult(
        command,
        result,
        (made) => `${describe([made.key])}\n\n${made.token}\nThe token is shown only once.`,
      );
    });

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
    .option(
      '--descendants',
      'also end the keys and members that it created, directly or through those',
      false,
    )
    .action(async (options: { key: string; descendants: boolean }, command: Command) => {
      const result = await withStores(({ pool }) =>
        inTransaction(pool, async (tx) => {
          const key = isUuid(options.key) ? await revokeKey(tx, options.key) : null;
          if (!key) throw new AppError('not_found', `no key has the id ${JSON.stringify(options.key)}`);
          const find = options.descendants ? endDescendants : descendantsOf;
          const { keys, members } = await find(tx, key.workspace_id, [key.id]);
          await recordOperator(tx, auditOf('key.revoke', key));
          const counts = { keys: keys.length, members: members.length };
          return { key, descendants: { ...counts, ended: options.descendants } };
        }),
      );
      printResult(command, result, ({ key, descendants: { keys, members, ended } }) => {
        const found = `${keys} keys and ${members} members descend from it`;
        if (keys + members === 0) return describe([key]);
        const note = ended
          ? `${found}; they are ended.`
          : `${found} and stay active; --descendants ends them.`;
        return `${describe([key])}\n\n${note}`;
      });
    });
}
