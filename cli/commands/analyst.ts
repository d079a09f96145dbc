import { createHash, randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import {
  ANALYST_PREFIX,
  type Analyst,
  analystDatabase,
  canCreateUsers,
  createAnalyst,
  deleteAnalyst,
  findLeak,
  type ListedAnalyst,
  listAnalysts,
} from '../../clickhouse/analysts/index.ts';
import { createClickHouse } from '../../clickhouse/client.ts';
import { AppError } from '../../core/errors.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { type Stores, withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

const MOST_NAME = 40;

const describe = (analysts: readonly ListedAnalyst[]) =>
  table(
    ['user', 'workspace'],
    analysts.map(({ user, workspaceId }) => [user, workspaceId]),
  );

function name(text: string): string {
  if (text.length > MOST_NAME || !/^[a-z][a-z0-9_]*$/.test(text)) {
    throw new InvalidArgumentError(
      `must be 1 to ${MOST_NAME} lower-case letters, digits and underscores, with a letter first`,
    );
  }
  return text;
}

/** @throws {CommandFailed} for the embedded ClickHouse, where `file()` reads every file of the machine */
async function expectServer({ clickhouse }: Stores): Promise<void> {
  if (await canCreateUsers(clickhouse)) return;
  throw new CommandFailed(
    'this ClickHouse has no storage for users that SQL creates; the embedded one cannot confine a user: set CLICKHOUSE_URL to a ClickHouse server with a local_directory in its user_directories',
  );
}

/** Creates the user, and removes it again if the server does not confine it. */
async function createConfined(stores: Stores, analyst: Analyst, password: string): Promise<void> {
  const { clickhouse, config } = stores;
  const { clickhouseDatabase } = config;
  await createAnalyst(clickhouse, clickhouseDatabase, analyst);
  const url = new URL(config.clickhouseUrl);
  url.username = analyst.user;
  url.password = password;
  const database = analystDatabase(clickhouseDatabase, analyst.workspaceId);
  const client = createClickHouse({ url: url.href, database });
  try {
    const leak = await findLeak(client);
    if (leak !== null) throw new CommandFailed(`this ClickHouse server does not confine its users: ${leak}`);
  } catch (error) {
    await deleteAnalyst(clickhouse, clickhouseDatabase, analyst);
    throw error;
  } finally {
    await client.close();
  }
}

const auditOf = (action: string, { user, workspaceId }: ListedAnalyst) => ({
  workspaceId,
  action,
  target: { type: 'analyst', id: user },
});

/** `hoplog analyst create | list | delete`. */
export function analystCommands(program: Command): void {
  const group = program.command('analyst').description('users of ClickHouse that read one workspace by SQL');
  group
    .command('create')
    .description('create a user that reads one workspace; its password is shown once')
    .requiredOption('--workspace <id>', 'id or slug')
    .option('--name <name>', 'what the name of the user ends with; random by default', name)
    .action(async (options: { workspace: string; name?: string }, command: Command) => {
      const password = randomBytes(24).toString('hex');
      const passwordHash = createHash('sha256').update(password).digest('hex');
      const result = await withStores(async (stores) => {
        const { pool, config } = stores;
        const { id: workspaceId } = await namedWorkspace(pool, options.workspace);
        await expectServer(stores);
        const user = `${ANALYST_PREFIX}${options.name ?? randomBytes(6).toString('hex')}`;
        if (
          (await listAnalysts(stores.clickhouse, stores.config.clickhouseDatabase)).some(
            (one) => one.user === user,
          )
        ) {
          throw new AppError('conflict', `the user ${user} exists; choose another name`);
        }
        await createConfined(stores, { user, workspaceId, passwordHash }, password);
        await recordOperator(pool, auditOf('analyst.create', { user, workspaceId }));
        const { host } = new URL(config.clickhouseUrl);
        const database = analystDatabase(config.clickhouseDatabase, workspaceId);
        return { user, workspace_id: workspaceId, database, host, password };
      });
      printResult(command, result, (made) =>
        [
          table(['user', 'database', 'host'], [[made.user, made.database, made.host]]),
          '',
          made.password,
          'The password is shown only once.',
        ].join('\n'),
      );
    });

  group
    .command('list')
    .description('list the analysts of all workspaces')
    .action(async (_: unknown, command: Command) => {
      const analysts = await withStores((stores) =>
        listAnalysts(stores.clickhouse, stores.config.clickhouseDatabase),
      );
      const shown = analysts.map(({ user, workspaceId }) => ({ user, workspace_id: workspaceId }));
      printResult(command, { analysts: shown }, () => describe(analysts));
    });

  group
    .command('delete')
    .description('delete an analyst')
    .requiredOption('--user <user>', 'name of the user')
    .action(async (options: { user: string }, command: Command) => {
      const result = await withStores(async (stores) => {
        const { clickhouseDatabase } = stores.config;
        const analyst = (await listAnalysts(stores.clickhouse, clickhouseDatabase)).find(
          ({ user }) => user === options.user,
        );
        if (!analyst)
          throw new AppError('not_found', `no analyst has the name ${JSON.stringify(options.user)}`);
        await deleteAnalyst(stores.clickhouse, clickhouseDatabase, analyst);
        await recordOperator(stores.pool, auditOf('analyst.delete', analyst));
        return { user: analyst.user, workspace_id: analyst.workspaceId };
      });
      printResult(command, result, (gone) => `${gone.user} is deleted.`);
    });
}
