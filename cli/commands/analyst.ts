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
import type { Replica } from '../../clickhouse/replicas.ts';
import { AppError } from '../../core/errors.ts';
import { MAIN_REPLICA, settingsOfReplica } from '../../core/settings/replicas.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { replicaOf } from '../replica/details.ts';
import { addressesOfReplicas, type Stores, withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

const MOST_NAME = 40;

/** An analyst is a user of one server, as all users of ClickHouse are. */
type AnalystOf = ListedAnalyst & { replica: string };

const describe = (analysts: readonly AnalystOf[]) =>
  table(
    ['user', 'workspace', 'replica'],
    analysts.map(({ user, workspaceId, replica }) => [user, workspaceId, replica]),
  );

/** Returns the analysts of all replicas, and the names of replicas that did not respond. @throws when none responds */
async function analystsOf({
  replicas,
  config,
}: Stores): Promise<{ analysts: AnalystOf[]; silent: string[] }> {
  const ended = await Promise.allSettled(
    replicas.map(({ clickhouse }) => listAnalysts(clickhouse, config.clickhouseDatabase)),
  );
  const found: { analysts: AnalystOf[]; silent: string[] } = { analysts: [], silent: [] };
  replicas.forEach(({ name }, n) => {
    const one = ended[n];
    if (one?.status === 'fulfilled')
      found.analysts.push(...one.value.map((analyst) => ({ ...analyst, replica: name })));
    else found.silent.push(name);
  });
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed && found.silent.length === replicas.length) throw failed.reason;
  return found;
}

function name(text: string): string {
  if (text.length > MOST_NAME || !/^[a-z][a-z0-9_]*$/.test(text)) {
    throw new InvalidArgumentError(
      `must be 1 to ${MOST_NAME} lower-case letters, digits and underscores, with a letter first`,
    );
  }
  return text;
}

/** @throws {CommandFailed} for the embedded ClickHouse, where `file()` reads every file of the machine */
async function expectServer({ name: replica, clickhouse }: Replica): Promise<void> {
  if (await canCreateUsers(clickhouse)) return;
  const setting = replica === MAIN_REPLICA ? 'CLICKHOUSE_URL' : settingsOfReplica(replica).url;
  throw new CommandFailed(
    `this ClickHouse has no storage for users that SQL creates; the embedded one cannot confine a user: set ${setting} to a ClickHouse server with a local_directory in its user_directories`,
  );
}

/** Creates the user, and removes it again if the server does not confine it. */
async function createConfined(
  { config }: Stores,
  { name: replica, clickhouse }: Replica,
  analyst: Analyst,
  password: string,
): Promise<URL> {
  const { clickhouseDatabase } = config;
  await createAnalyst(clickhouse, clickhouseDatabase, analyst);
  const url = new URL(addressOf(config, replica));
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
  return url;
}

const addressOf = (config: Stores['config'], replica: string): string =>
  addressesOfReplicas(config).find(({ name: one }) => one === replica)?.url ?? config.clickhouseUrl;

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
    .option(
      '--replica <name>',
      'the replica whose user it becomes; default: the first of CLICKHOUSE_REPLICAS',
    )
    .action(async (options: { workspace: string; name?: string; replica?: string }, command: Command) => {
      const password = randomBytes(24).toString('hex');
      const passwordHash = createHash('sha256').update(password).digest('hex');
      const result = await withStores(async (stores) => {
        const { pool, config, replicas } = stores;
        const replica = options.replica === undefined ? replicas[0] : replicaOf(replicas, options.replica);
        const { id: workspaceId } = await namedWorkspace(pool, options.workspace);
        await expectServer(replica);
        const user = `${ANALYST_PREFIX}${options.name ?? randomBytes(6).toString('hex')}`;
        if (
          (await listAnalysts(replica.clickhouse, config.clickhouseDatabase)).some((one) => one.user === user)
        ) {
          throw new AppError('conflict', `the user ${user} exists; choose another name`);
        }
        const { host } = await createConfined(stores, replica, { user, workspaceId, passwordHash }, password);
        await recordOperator(pool, auditOf('analyst.create', { user, workspaceId }));
        const database = analystDatabase(config.clickhouseDatabase, workspaceId);
        return { user, workspace_id: workspaceId, replica: replica.name, database, host, password };
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
      const { analysts, silent } = await withStores(analystsOf);
      if (silent.length > 0) process.stderr.write(`hoplog: no response from ${silent.join(', ')}\n`);
      const shown = analysts.map(({ user, workspaceId, replica }) => ({
        user,
        workspace_id: workspaceId,
        replica,
      }));
      printResult(command, { analysts: shown }, () => describe(analysts));
    });

  group
    .command('delete')
    .description('delete an analyst')
    .requiredOption('--user <user>', 'name of the user')
    .action(async (options: { user: string }, command: Command) => {
      const result = await withStores(async (stores) => {
        const { clickhouseDatabase } = stores.config;
        const { analysts, silent } = await analystsOf(stores);
        const found = analysts.filter(({ user }) => user === options.user);
        for (const analyst of found) {
          const { clickhouse } = replicaOf(stores.replicas, analyst.replica);
          await deleteAnalyst(clickhouse, clickhouseDatabase, analyst);
          await recordOperator(stores.pool, auditOf('analyst.delete', analyst));
        }
        if (silent.length > 0)
          throw new CommandFailed(
            `${silent.join(', ')} did not respond and may have the user, too: run the command again`,
          );
        const [analyst] = found;
        if (!analyst)
          throw new AppError('not_found', `no analyst has the name ${JSON.stringify(options.user)}`);
        return { user: analyst.user, workspace_id: analyst.workspaceId };
      });
      printResult(command, result, (gone) => `${gone.user} is deleted.`);
    });
}
