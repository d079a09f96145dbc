import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { uuidv7 } from '../../core/ids.ts';
import { hasOpenCorrections, openCorrections } from '../../sql/event-log/clock-corrections.ts';
import { readReplicaMarks } from '../../sql/event-log/replica-marks.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import { type OwnClickHouse, ownClickHouse } from '../../test/support/own-clickhouse.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { click, heartbeat, identify } from '../test-support/events.ts';
import { addReplicaFromLog } from '../test-support/replica-from-log.ts';

const SECOND = 1_000_000;
const SHIFT = 3_600 * SECOND;
const TABLES = ['clicks', 'identifies FINAL'];

let main: OwnClickHouse;
let second: OwnClickHouse;
let rig: Rig;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  rig = await createRig();
  await addReplicaFromLog(rig.stores.pool, 'second');
  await rig.stores.pool.query('UPDATE replicas SET is_readable = true');
});
afterAll(async () => {
  await rig.close();
  await Promise.all([main.close(), second.close()]);
});

const readable = async () =>
  [...(await readReplicaMarks(rig.stores.pool, ['main', 'second'])).of.keys()].sort();

function replicas(clients: Partial<Record<'main' | 'second', ClickHouseClient>> = {}): [Replica, Replica] {
  return [
    { name: 'main', clickhouse: clients.main ?? main.clickhouse },
    { name: 'second', clickhouse: clients.second ?? second.clickhouse },
  ];
}

/** The client, whose server is killed as it begins to drop rows that were copied. */
function killedAsItDrops(server: OwnClickHouse): ClickHouseClient {
  return new Proxy(server.clickhouse, {
    get(target, name) {
      if (name !== 'command') return Reflect.get(target, name);
      return async (given: { query: string }) => {
        if (!given.query.includes('ALTER TABLE identifies DELETE')) return target.command(given);
        const ended = target.command(given);
        await Promise.all([server.kill(), ended.catch(() => undefined)]);
        throw new Error('killed');
      };
    },
  });
}

async function expectCorrected(clicks: number): Promise<void> {
  const { pool } = rig.stores;
  await until(
    'both are corrected',
    () => hasOpenCorrections(pool),
    (isOpen) => !isOpen,
  );
  await until('both may be read', readable, (names) => names.length === 2);
  const behind = async () => (await pool.query('SELECT FROM replica_lanes')).rowCount;
  await until('both are in step', behind, (rows) => rows === 0);
  for (const table of TABLES) {
    const stored = await main.hash(table);
    expect([table, await second.hash(table)]).toEqual([table, stored]);
    expect(stored.rows).toBe(table === 'clicks' ? clicks : clicks / 3);
    expect(await ahead(main, table)).toBe(0);
  }
}

/** Returns the number of rows whose times are in the future. */
async function ahead({ clickhouse }: OwnClickHouse, table: string): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT count() AS ahead FROM ${table} WHERE ts > now() + 60`,
    format: 'JSONEachRow',
  });
  return Number((await result.json<{ ahead: string }>())[0]?.ahead);
}

test('times of a clock that was ahead are corrected in each replica, also in one that is killed', async () => {
  const { workspace } = rig;
  const { pool } = rig.stores;
  const stream = await rig.stream('ingest-0');
  const start = Date.now() * 1_000 - 600 * SECOND;
  let made = 0;
  const next = () => start + made++ * 1_000;

  /** Appends events that are ahead, with a click that is right before and after them, and their correction. */
  async function jump(before = async () => {}): Promise<void> {
    const visitor = uuidv7();
    const visit = (ts: number) => click({ workspace, link: uuidv7(), visitor, ts });
    stream.append([visit(next()), heartbeat(next())]);
    await rig.settled(stream);
    await before();
    const first = stream.next();
    const fromTs = next() + SHIFT;
    stream.append([
      visit(fromTs),
      identify({ workspace, visitor, ts: next() + SHIFT, email: 'a@shop.example', landedAt: [fromTs] }),
    ]);
    const toTs = next() + SHIFT;
    stream.append([heartbeat(toTs)]);
    await rig.settled(stream);
    // The identify is stored with its wrong time, in the replicas that can be written.
    await until('no report waits', waiting, (rows) => rows === 0);
    stream.append([
      {
        kind: 'clock',
        ts: next(),
        ...{ first: String(first), before: String(stream.next()), fromTs, toTs, shift: SHIFT },
      },
      visit(next()),
      heartbeat(next()),
    ]);
    await rig.settled(stream);
  }
  const waiting = async () => (await pool.query('SELECT FROM waiting_reports')).rowCount;
  const lacks = async (name: string) => (await openCorrections(pool, name)).length;

  let workers = rig.work({ clickhouse: main.clickhouse, replicas: replicas() });
  await jump();
  await expectCorrected(3);

  // One that is away gets clicks with their wrong times from the log, and the identify that it missed from the other one.
  await jump(() => second.kill());
  await until(
    'main is corrected',
    () => lacks('main'),
    (count) => count === 0,
  );
  expect(await lacks('second')).toBe(1);
  expect(await readable()).toEqual(['main']);
  await second.start();
  await expectCorrected(6);
  await workers.stop();

  const killed = [[main, 'main'] as const, ...(NIGHTLY ? [[second, 'second'] as const] : [])];
  for (const [at, [server, name]] of killed.entries()) {
    workers = rig.work({
      clickhouse: main.clickhouse,
      replicas: replicas({ [name]: killedAsItDrops(server) }),
    });
    await jump();
    const other = name === 'main' ? 'second' : 'main';
    await until(
      'one is corrected',
      () => lacks(other),
      (count) => count === 0,
    );
    await until(
      'the other one was killed',
      async () => (await openCorrections(pool, name))[0]?.isCopied,
      Boolean,
    );
    await until('it is not read', readable, (names) => names.join() === other);
    await workers.stop();
    await server.start();
    workers = rig.work({ clickhouse: main.clickhouse, replicas: replicas() });
    await expectCorrected(9 + at * 3);
    await workers.stop();
  }
});
