import { afterAll, beforeAll, expect, test } from 'vitest';
import { addToReplicas } from '../cli/replica/add.ts';
import { compareReplicas } from '../cli/replica/compare.ts';
import { detailsOf, sourceOf } from '../cli/replica/details.ts';
import { fillReplica } from '../cli/replica/fill.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import type { Replica } from '../clickhouse/replicas.ts';
import { uuidv7 } from '../core/ids.ts';
import { situationOf, troubledReplicas } from '../sql/event-log/replica-details.ts';
import { dropReplica, letBeRead } from '../sql/event-log/replica-fills.ts';
import { readReplicaMarks } from '../sql/event-log/replica-marks.ts';
import type { RegisteredStream } from '../sql/event-log/streams.ts';
import { click, heartbeat, identify, order } from '../workers/test-support/events.ts';
import type { LogWriter } from '../workers/test-support/log-writer.ts';
import { type OwnClickHouse, ownClickHouse } from './support/own-clickhouse.ts';
import { storeClicks } from './support/stored-events.ts';
import { until } from './support/until.ts';
import { createRig, type Rig } from './support/worker-rig.ts';

/** Clicks are on both sides of a month's end. */
const NOW = Date.UTC(2026, 10, 30, 23, 59, 59) * 1000;
const TABLES = ['clicks', 'identifies FINAL', 'orders FINAL', 'deleted_links FINAL'];

let main: OwnClickHouse;
let second: OwnClickHouse;
let rig: Rig;
let streams: (LogWriter & RegisteredStream)[];
let replicas: [Replica, Replica];
let made = 0;
let isOver = false;
let writing = Promise.resolve();
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
  rig = await createRig();
  streams = [await rig.stream('ingest-0'), await rig.stream('ingest-1')];
  replicas = [
    { name: 'main', clickhouse: main.clickhouse },
    { name: 'second', clickhouse: second.clickhouse },
  ];
  rig.work({ clickhouse: main.clickhouse, replicas });
});
afterAll(async () => {
  isOver = true;
  await writing;
  await rig.close();
  await Promise.all([main.close(), second.close()]);
});

/** Appends clicks, and an identify, to both journals. */
function append(count = 20): void {
  const { workspace } = rig;
  for (const stream of streams) {
    const next = () => NOW + made++ * 10_000;
    const clicks = Array.from({ length: count }, () =>
      click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: next() }),
    );
    const known = identify({ workspace, visitor: uuidv7(), ts: next(), email: `a${made}@shop.example` });
    stream.append([...clicks, known, heartbeat(next())]);
  }
}

const settled = () => Promise.all(streams.map((stream) => rig.settled(stream)));

async function add(replica: Replica, { url }: OwnClickHouse) {
  const server = createClickHouse({ url, database: 'default' });
  try {
    return await addToReplicas(rig.stores.pool, replica, server, 'hoplog');
  } finally {
    await server.close();
  }
}

const situation = async (name: string) => situationOf(await detailsOf(rig.stores.pool, name));
const behind = async () => (await rig.stores.pool.query('SELECT FROM replica_lanes')).rowCount;
const readable = async () => [...(await readReplicaMarks(rig.stores.pool, ['main', 'second'])).of.keys()];

async function expectEqual(): Promise<void> {
  for (const table of TABLES)
    expect([table, await second.hash(table)]).toEqual([table, await main.hash(table)]);
}

test('a replica that is added under clicks is filled, continued after it broke off, and equal', async () => {
  const { pool, workspace: workspaceId } = { ...rig.stores, workspace: rig.workspace };
  for (let batch = 0; batch < 5; batch++) append();
  streams[0]?.append([
    order({ workspace: workspaceId, orderId: 'first', visitor: uuidv7(), ts: NOW + made++ * 10_000 }),
    heartbeat(NOW + made++ * 10_000),
  ]);
  await settled();
  // Clicks of an import, and of another deployment's log: no lane gives them to a replica.
  await storeClicks(main, [
    {
      workspaceId,
      tsNanos: BigInt(Date.UTC(2025, 0, 1)) * 1_000_000n + 999n,
      linkId: uuidv7(),
      visitorId: uuidv7(),
    },
  ]);
  await main.clickhouse.command({
    query: `INSERT INTO deleted_links VALUES (generateUUIDv4(), generateUUIDv4())`,
  });
  writing = (async () => {
    while (!isOver) {
      append(5);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();

  await expect(sourceOf(pool, replicas, 'second', 'second')).rejects.toThrow('itself');
  await expect(detailsOf(pool, 'second')).rejects.toThrow('hoplog replica add second');
  expect(await add(replicas[1], second)).toEqual({ added: 'second', isNew: true });
  expect(await add(replicas[1], second)).toEqual({ added: 'second', isNew: false });
  expect(await situation('second')).toBe('filling');
  expect(await troubledReplicas(pool)).toMatchObject([{ name: 'second', state: 'filling' }]);
  const source = await sourceOf(pool, replicas, 'second', null);
  expect(source.name).toBe('main');
  let months = 0;
  const breaksOff = () => {
    if (++months === 2) throw new Error('killed');
  };
  await expect(fillReplica(pool, source, replicas[1], breaksOff)).rejects.toThrow('killed');
  expect(await situation('second')).toBe('filling');
  const lines: string[] = [];
  const filled = await fillReplica(pool, source, replicas[1], (line) => lines.push(line));
  expect(filled.copied.find(({ table }) => table === 'clicks')?.rows).toBeGreaterThan(100);
  expect(lines.filter((line) => line.startsWith('clicks of '))).toEqual(
    ['2025-01', '2026-11', '2026-12'].map((month) => expect.stringContaining(`clicks of ${month}: `)),
  );
  expect((await fillReplica(pool, source, replicas[1], () => undefined)).copied).toEqual([]);
  await until(
    'it has missed nothing',
    () => situation('second'),
    (found) => found === 'not used',
  );
  expect(await readable()).toEqual(['main']);
  await letBeRead(pool, 'second');
  await until('it is read', readable, (names) => names.length === 2);
  isOver = true;
  await writing;
  await settled();
  await until('both are in step', behind, (count) => count === 0);
  await expectEqual();
});

test('a comparison names the hours in which replicas differ, and the rows of a range', async () => {
  const { pool } = rig.stores;
  const compare = (range: { from: number; to: number } | null = null) =>
    compareReplicas(pool, replicas[1], replicas[0], range);
  expect((await compare()).differences.filter(({ table }) => table !== 'attributed_shares')).toEqual([]);
  const [row] = await second.clickhouse.queries.rows<{ ts: string; hour: string }>({
    sql: `SELECT toString(clicks.ts) AS ts, formatDateTime(clicks.ts, '%Y-%m-%dT%H:00Z') AS hour FROM clicks
      WHERE toYear(clicks.ts) = 2026 ORDER BY clicks.ts LIMIT 1 OFFSET 30`,
    params: {},
    settings: {},
  });
  await second.clickhouse.command({
    query: 'DELETE FROM clicks WHERE toString(ts) = {ts:String}',
    query_params: { ts: row?.ts },
  });
  const [difference] = (await compare()).differences.filter(({ table }) => table === 'clicks');
  expect(difference).toMatchObject({ table: 'clicks', hour: row?.hour });
  expect(difference && difference.rows[1] - difference.rows[0]).toBe(1);
  const from = Date.parse(row?.hour ?? '') / 1_000;
  const { rows } = await compare({ from, to: from + 3_600 });
  expect(rows?.filter(({ table }) => table === 'clicks')).toEqual([
    { table: 'clicks', key: { workspace_id: rig.workspace, ts: row?.ts }, in: 'main' },
  ]);
  expect((await compare({ from: from - 7_200, to: from - 3_600 })).differences).toEqual([]);
});

test('the first replica is dropped, and added again when its server is empty', async () => {
  const { pool } = rig.stores;
  expect(await dropReplica(pool, 'none')).toBe('unknown');
  expect(await dropReplica(pool, 'main')).toBe('dropped');
  expect(await dropReplica(pool, 'second')).toBe('last');
  append();
  await settled();
  await expect(add(replicas[0], main)).rejects.toThrow('has rows: a replica must begin empty');
  const server = createClickHouse({ url: main.url, database: 'default' });
  await server.command({ query: 'DROP DATABASE hoplog SYNC' });
  await server.close();
  append();
  expect(await add(replicas[0], main)).toEqual({ added: 'main', isNew: true });
  append();
  await fillReplica(pool, await sourceOf(pool, replicas, 'main', 'second'), replicas[0], () => undefined);
  await until(
    'it has missed nothing',
    () => situation('main'),
    (found) => found === 'not used',
  );
  await letBeRead(pool, 'main');
  await settled();
  await until('both are in step', behind, (count) => count === 0);
  await expectEqual();
});
