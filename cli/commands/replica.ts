import { type Command, InvalidArgumentError } from 'commander';
import { createClickHouse } from '../../clickhouse/client.ts';
import type { Span } from '../../clickhouse/copies/compared-tables.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { replicaDetails, situationOf } from '../../sql/event-log/replica-details.ts';
import { dropReplica, letBeRead } from '../../sql/event-log/replica-fills.ts';
import { CommandFailed, isJson, printResult, table } from '../output.ts';
import { addToReplicas } from '../replica/add.ts';
import { type Comparison, compareReplicas } from '../replica/compare.ts';
import { detailsOf, replicaOf, sourceOf } from '../replica/details.ts';
import { fillReplica } from '../replica/fill.ts';
import { type Stores, withStores } from '../stores.ts';

/** Longest silence of a replica, milliseconds: it may be the one that hangs. */
const SILENCE_MS = 30_000;

const withReplicas = <T>(work: (stores: Stores) => Promise<T>) => withStores(work, SILENCE_MS);

/** `hoplog replica list | add | fill | compare | use | drop`. */
export function replicaCommands(program: Command): void {
  const group = program
    .command('replica')
    .description('copies of the analytical data, each on a ClickHouse server');
  addList(group);
  addChanges(group);
  addCompare(group);
}

function addList(group: Command): void {
  group
    .command('list')
    .description('list all replicas, how far each is, and what keeps one from being read')
    .action(async (_options: object, command: Command) => {
      const result = await withStores(async ({ config, pool }) => ({
        replicas: (await replicaDetails(pool)).map((replica) => ({
          name: replica.name,
          state: situationOf(replica),
          watermark: replica.watermark === null ? null : new Date(replica.watermark / 1_000).toISOString(),
          behind_seconds: replica.behindSeconds,
          missed_writes: replica.missed,
          lost_partitions: replica.lostPartitions,
          in_settings: config.clickhouseReplicas.some(({ name }) => name === replica.name),
        })),
      }));
      printResult(command, result, ({ replicas }) =>
        table(
          ['name', 'state', 'watermark', 'behind', 'missed', 'in CLICKHOUSE_REPLICAS'],
          replicas.map((one) => [
            one.name,
            one.state,
            one.watermark ?? '-',
            `${one.behind_seconds.toFixed(1)} s`,
            String(one.missed_writes),
            one.in_settings ? 'yes' : 'no',
          ]),
        ),
      );
    });
}

function addChanges(group: Command): void {
  group
    .command('add <name>')
    .description('create the tables of a replica of CLICKHOUSE_REPLICAS; the event log feeds it from now on')
    .action(async (name: string, _options: object, command: Command) => {
      const result = await withReplicas(async ({ config, pool, replicas }) => {
        const replica = replicaOf(replicas, name);
        const named = config.clickhouseReplicas.find((one) => one.name === name);
        const server = createClickHouse({ url: named?.url || config.clickhouseUrl, database: 'default' });
        try {
          return await addToReplicas(pool, replica, server, config.clickhouseDatabase);
        } finally {
          await server.close();
        }
      });
      printResult(command, result, ({ added, isNew }) =>
        isNew ? `${added} is added: run "hoplog replica fill ${added}"` : `${added} was added before`,
      );
    });

  group
    .command('fill <name>')
    .description('copy what is older than a replica from another one; continues where an earlier run ended')
    .option('--from <replica>', 'the replica to copy from; default: any that has everything')
    .action(async (name: string, options: { from?: string }, command: Command) => {
      const note = (line: string) => isJson(command) || process.stderr.write(`hoplog: ${line}\n`);
      const result = await withReplicas(async ({ pool, replicas }) => {
        const target = replicaOf(replicas, name);
        await detailsOf(pool, name);
        return fillReplica(pool, await sourceOf(pool, replicas, name, options.from ?? null), target, note);
      });
      printResult(
        command,
        result,
        ({ filled }) =>
          `${filled} is filled: when "hoplog replica list" shows that it has missed nothing, run "hoplog replica use ${filled}"`,
      );
    });

  group
    .command('use <name>')
    .description('let a replica that is filled be read')
    .action(async (name: string, _options: object, command: Command) => {
      const result = await withStores(({ pool }) => use(pool, name));
      printResult(command, result, ({ used }) => `${used} is read from now on`);
    });

  group
    .command('drop <name>')
    .description('remove a replica: nothing reads or writes it; its server keeps its data')
    .action(async (name: string, _options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const outcome = await dropReplica(pool, name);
        if (outcome === 'last')
          throw new CommandFailed(`${name} is the only replica that is used: use another one first`);
        return { dropped: name, existed: outcome === 'dropped' };
      });
      printResult(command, result, ({ dropped, existed }) =>
        existed
          ? `${dropped} is dropped: remove it from CLICKHOUSE_REPLICAS, and delete the data of its server`
          : `there is no replica ${dropped}`,
      );
    });
}

async function use(pool: Pool, name: string): Promise<{ used: string }> {
  const replica = await detailsOf(pool, name);
  if (replica.isUsed) return { used: name };
  const situation = situationOf(replica);
  if (situation === 'filling')
    throw new CommandFailed(`${name} is not filled: run "hoplog replica fill ${name}" first`);
  if (situation === 'lost')
    throw new CommandFailed(
      `the event log no longer holds what ${name} lacks: drop it, empty its server, add it, and fill it again`,
    );
  if (situation === 'repairing')
    throw new CommandFailed(
      `${name} has missed ${replica.missed} writes, which workers repair: wait until it has none`,
    );
  if (replica.partitionsBehind > 0 && replica.behindSeconds > MOST_BEHIND_SECONDS)
    throw new CommandFailed(
      `${name} is ${replica.behindSeconds.toFixed(0)} s behind the event log: wait until it is at most ${MOST_BEHIND_SECONDS} s behind`,
    );
  await letBeRead(pool, name);
  return { used: name };
}

/** A replica further behind is not used. Seconds. */
const MOST_BEHIND_SECONDS = 60;

function addCompare(group: Command): void {
  group
    .command('compare <name>')
    .description(
      'name the hours in which a replica has other rows than another one; exits with 1 if there are any',
    )
    .option('--with <replica>', 'the other replica; default: any that has everything')
    .option(
      '--range <from..to>',
      'compare these times alone, such as 2026-11-30T04:00Z..2026-11-30T06:00Z, and name rows',
      range,
    )
    .action(async (name: string, options: { with?: string; range?: Span }, command: Command) => {
      const result = await withReplicas(async ({ pool, replicas }) => {
        const one = replicaOf(replicas, name);
        await detailsOf(pool, name);
        const other =
          options.with === undefined
            ? await sourceOf(pool, replicas, name, null)
            : replicaOf(replicas, options.with);
        await detailsOf(pool, other.name);
        if (one === other)
          throw new CommandFailed(`a replica can't be compared with itself: --with names ${name}`);
        return compareReplicas(pool, one, other, options.range ?? null);
      });
      printResult(command, result, describe);
      if (result.differences.length > 0) process.exitCode = 1;
    });
}

function describe({ replicas, before, differences, rows }: Comparison): string {
  if (differences.length === 0)
    return `${replicas.join(' and ')} have the same rows${before ? ` before ${before}` : ''}`;
  const hours = table(
    ['table', 'hour', ...replicas],
    differences.map((one) => [one.table, one.hour ?? '-', ...one.rows.map(String)]),
    [2, 3],
  );
  if (!rows) return hours;
  const named = table(
    ['table', 'row', 'in'],
    rows.map((row) => [row.table, Object.values(row.key).join(' '), row.in]),
  );
  return `${hours}\n\n${named}`;
}

function range(text: string): Span {
  const times = text.split('..').map((time) => Date.parse(time));
  const [from, to] = times;
  if (times.length !== 2 || from === undefined || to === undefined || !(from < to) || from < 0)
    throw new InvalidArgumentError('must be two times with ".." between, the first one earlier.');
  return { from: Math.floor(from / 1_000), to: Math.ceil(to / 1_000) };
}
