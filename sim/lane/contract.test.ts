import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ClickRow } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { presentSequences } from '../../clickhouse/inserts/present-sequences.ts';
import { storedAbove } from '../../clickhouse/inserts/stored-above.ts';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { addDeadLetters } from '../../sql/event-log/dead-letters.ts';
import * as lanes from '../../sql/event-log/lanes.ts';
import { recordHeartbeat, removeLiveWorker } from '../../sql/event-log/live-workers.ts';
import * as streams from '../../sql/event-log/streams.ts';
import { storesTest as it } from '../../test/support/fixtures.ts';
import { testClick } from '../../test/support/journal.ts';
import { until } from '../../test/support/until.ts';
import { encodeBlock } from '../../workers/lane/blocks.ts';
import { createClient } from '../clickhouse/client.ts';
import { ClickHouseServer } from '../clickhouse/server.ts';
import { Database } from '../postgres/database.ts';
import { createPool } from '../postgres/pool.ts';
import { Network } from '../world/network.ts';
import { Random } from '../world/random.ts';
import { enter, World } from '../world/world.ts';

const HOUR_MS = 3_600_000;

/** The stand-in for PostgreSQL, with a client process, in a world of its own. */
function startDatabase() {
  const world = new World(1);
  enter(world);
  const database = new Database(world);
  const pool = createPool(database, new Network(world, database.process));
  const process = world.start('worker');
  return { world, database, pool, process, call: <T>(work: () => Promise<T>) => world.call(process, work) };
}

/** The outcome of a call, without what differs between two servers. */
async function outcomeOf(work: Promise<unknown>): Promise<{ value: unknown } | { error: unknown }> {
  try {
    return { value: await work };
  } catch (error) {
    return { error: error instanceof Error ? error.name : error };
  }
}

const TABLES = [
  'SELECT consumer, partition, epoch, next_offset, intent, held_by FROM log_lanes',
  'SELECT stream_id, ordinal, name, high_water, visible_before, missing, state FROM ingest_streams',
  'SELECT partition, log_offset, stream_id, sequence, reason FROM dead_letters',
  'SELECT ordinal, hour, clicks, sequences, has_gap FROM counted_clicks',
];

/** PostgreSQL orders the keys of `jsonb` its own way. */
function sortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort());
}

async function contents(pool: Pool): Promise<string[]> {
  const tables: string[] = [];
  for (const sql of TABLES) {
    const { rows } = await pool.query(sql);
    tables.push(...rows.map((row) => JSON.stringify(row, sortedKeys)).sort());
  }
  return tables;
}

it('lanes and streams in memory do what those in PostgreSQL do, in 500 random calls', async ({ stores }) => {
  const { pool } = stores;
  const memory = startDatabase();
  const random = new Random(20_261_130);
  const consumer = 'contract';
  const ids = Array.from({ length: 4 }, () => randomUUID());
  const taken: lanes.Lane[] = [];
  const outcomes = new Set<string>();

  /** Makes the same call of the product on both servers. */
  async function same<T>(what: string, call: (db: Pool) => Promise<T>): Promise<unknown> {
    const expected = await outcomeOf(call(pool));
    expect(await memory.call(() => outcomeOf(call(memory.pool))), what).toEqual(expected);
    outcomes.add(`${what} ${'error' in expected ? `throws ${expected.error}` : 'returns'}`);
    return 'value' in expected ? expected.value : undefined;
  }

  const progress = (): streams.StreamProgress[] =>
    ids
      .filter(() => random.chance(0.6))
      .map((streamId, ordinal) => ({
        streamId,
        ordinal,
        highWater: BigInt(random.integer(-1, 50)),
        visibleBefore: random.integer(0, 1_000),
        isSetBack: random.chance(0.1),
        missing: random.chance(0.2) ? [{ from: 1n, to: 3n }] : [],
      }));

  for (const [index, id] of ids.entries()) {
    const register = (db: Pool) => streams.registerStream(db, `contract-${index}`, id);
    const registered = await outcomeOf(register(pool));
    expect(await memory.call(() => outcomeOf(register(memory.pool)))).toEqual(registered);
  }
  for (let round = 0; round < 500; round++) {
    const partition = random.pick(['a', 'b']);
    const holder = random.pick(['one/1', 'two/2']);
    const lane = taken.length > 0 ? random.pick(taken.slice(-4)) : null;
    const to = BigInt(random.integer(0, 9));
    const from = lane && random.chance(0.7) ? lane.nextOffset : to;
    const intent = { from, to, token: `${partition}/${round}` };
    switch (random.integer(0, 11)) {
      case 0:
      case 1: {
        const given = {
          consumer,
          partition,
          holder,
          leaseMs: random.pick([HOUR_MS, -1_000, 24 * HOUR_MS]),
          ...(random.chance(0.2) && { deadHolder: 'one/1' }),
        };
        const found = await same('takeLane', (db) => lanes.takeLane(db, given));
        if (found) taken.push(found as lanes.Lane);
        break;
      }
      case 2:
        await same('laneHolder', (db) => lanes.laneHolder(db, consumer, partition));
        await same('laneOffsets', (db) => lanes.laneOffsets(db, partition));
        break;
      case 3: {
        const leaseMs = random.pick([HOUR_MS, -1_000]);
        await same('renewLanes', (db) => lanes.renewLanes(db, taken.slice(-3), leaseMs));
        break;
      }
      case 4:
        if (lane) await same('commitIntent', (db) => lanes.commitIntent(db, lane, intent));
        break;
      case 5:
        if (lane && random.chance(0.4)) await same('releaseLane', (db) => lanes.releaseLane(db, lane));
        else if (lane) await same('resetLane', (db) => lanes.resetLane(db, lane, to));
        break;
      case 6:
      case 7: {
        if (!lane) break;
        const moved = progress();
        const counted = [0, 1].slice(random.integer(0, 2)).map((ordinal) => ({
          ordinal,
          hour: random.integer(0, 2),
          clicks: random.integer(0, 9),
          sequences: random.integer(0, 2 ** 40),
          hasGap: random.chance(0.1),
        }));
        await same('advanceLaneAndStreams', async (db) => {
          if (to < from) return 'not called';
          const isAdvanced = await streams.advanceLaneAndStreams(db, lane, { from, to }, moved, counted);
          return isAdvanced;
        });
        break;
      }
      case 8: {
        if (!lane) break;
        const moved = progress();
        const letter = { logOffset: to, reason: 'x', payload: Buffer.from('x') };
        const letters = [
          { ...letter, partition, streamId: ids[0] ?? null, sequence: from },
          { ...letter, partition, streamId: null, sequence: null },
        ];
        await same('advance', (db) =>
          inTransaction(db, async (transaction) => {
            const at = await lanes.lockLane(transaction, lane);
            await addDeadLetters(transaction, letters);
            await streams.advanceStreams(transaction, moved);
            await lanes.advanceLane(transaction, lane, at + 1n);
            return at;
          }),
        );
        break;
      }
      case 9: {
        const liveMs = random.pick([HOUR_MS / 2, -1_000, 2 * HOUR_MS]);
        const consumers = random.pick([[consumer], [consumer, 'other']]);
        await same('recordHeartbeat', async (db) => {
          const live = await recordHeartbeat(db, { consumers, holder, liveMs });
          return [...live].map(([name, holders]) => [name, holders.toSorted()]);
        });
        if (random.chance(0.2))
          await same('removeLiveWorker', (db) => removeLiveWorker(db, consumer, holder));
        break;
      }
      case 10: {
        await same('watermark', streams.watermark);
        if (random.chance(0.05)) await same('retireStream', (db) => streams.retireStream(db, ids[3] ?? ''));
        break;
      }
      default:
        await same('readStreams', async (db) =>
          (await streams.readStreams(db)).toSorted((a, b) => a.ordinal - b.ordinal),
        );
    }
    if (round % 20 === 0)
      expect(await memory.call(() => contents(memory.pool))).toEqual(await contents(pool));
  }
  const fenced = ['advance', 'commitIntent', 'resetLane'];
  expect([...outcomes]).toEqual(expect.arrayContaining(fenced.map((name) => `${name} throws LaneLost`)));
  expect([...outcomes]).toEqual(expect.arrayContaining(fenced.map((name) => `${name} returns`)));
  expect([...outcomes].filter((outcome) => outcome.endsWith(' returns'))).toHaveLength(14);
});

it('who wants a locked row or table waits and looks again, in memory as in PostgreSQL', async ({
  stores,
}) => {
  const { pool, admin } = stores;
  const consumer = 'contract-waits';
  const given = { consumer, partition: 'a', holder: 'one/1', leaseMs: HOUR_MS };
  const later = { ...given, holder: 'two/2', deadHolder: 'one/1' };
  const streamId = randomUUID();

  async function prepare(db: Pool): Promise<lanes.Lane> {
    await streams.registerStream(db, 'contract-0', streamId);
    const lane = await lanes.takeLane(db, given);
    if (!lane) throw new Error('the lane is held');
    return lane;
  }

  const lane = await prepare(pool);
  const taking = await pool.connect();
  await taking.query('BEGIN');
  await lanes.takeLane(taking, later);
  const advanced = streams.advanceLaneAndStreams(pool, lane, { from: 0n, to: 5n }, [], []);
  const waits = async () => {
    const { rowCount } = await admin.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'WITH lane AS%'",
    );
    return rowCount === 1;
  };
  await until('an advance that waits for a lock', waits);
  await taking.query('COMMIT');
  taking.release();
  // The row that it waited for belongs to another holder now.
  expect(await advanced).toBe(false);

  const memory = startDatabase();
  const { world, database } = memory;
  const sameLane = await memory.call(() => prepare(memory.pool));
  let outcome: boolean | null = null;
  let commit = () => {};
  const other = world.start('other');
  world.schedule(
    0,
    () => {
      void inTransaction(memory.pool, async (transaction) => {
        await lanes.takeLane(transaction, later);
        await new Promise<void>((resolve) => {
          commit = () => world.schedule(0, resolve, other);
        });
      });
    },
    other,
  );
  await world.run(100);
  const advance = () => streams.advanceLaneAndStreams(memory.pool, sameLane, { from: 0n, to: 5n }, [], []);
  world.schedule(
    0,
    () => {
      void advance().then((found) => {
        outcome = found;
      });
    },
    memory.process,
  );
  await world.run(5_000);
  expect(outcome).toBe(null);
  commit();
  await world.run(1_000);
  expect(outcome).toBe(false);
  expect(database.rows('log_lanes').get('contract-waits a')).toMatchObject({
    epoch: 2,
    held_by: 'two/2',
    next_offset: 0n,
  });
});

it('clicks in memory are stored and dropped as those in ClickHouse, in 150 random calls', async ({
  stores,
}) => {
  const { clickhouse } = stores;
  await clickhouse.command({
    query: 'ALTER TABLE clicks MODIFY SETTING non_replicated_deduplication_window = 5',
  });
  const world = new World(2);
  enter(world);
  const server = new ClickHouseServer(world, 5);
  const memory = createClient(server, new Network(world, server.process));
  const process = world.start('worker');
  const random = new Random(20_261_130);
  const enricher = createEnricher({ geo: emptyGeo() });
  const begin = Date.UTC(2026, 10, 20) * 1_000;

  const row = (number: number): ClickRow => {
    const event = { ...testClick('contract'), ts: begin + number };
    const ordinal = number % 3;
    return {
      event: clickKey(event),
      enriched: enricher.enrichClick(event),
      ordinal,
      sequence: BigInt(number),
    };
  };
  async function same<T>(what: string, call: (client: typeof clickhouse) => Promise<T>): Promise<T> {
    const expected = await call(clickhouse);
    expect(await world.call(process, () => call(memory)), what).toEqual(expected);
    return expected;
  }
  let dropped = 0;
  let next = 1;
  for (let round = 0; round < 150; round++) {
    const what = `call ${round}`;
    const kind = random.next();
    if (kind < 0.6) {
      const isRepeat = random.chance(0.5);
      const first = isRepeat ? Math.max(1, next - random.integer(1, 30)) : next;
      const count = random.integer(1, 6);
      const rows = Array.from({ length: count }, (_, index) => row(first + index));
      const before = server.clicks.size;
      // The same token may come with another split of the rows.
      const token = `contract/${first}`;
      const block = () => encodeBlock({ name: 'clicks', table: 'clicks', rows });
      if (rows.some(({ ordinal, sequence }) => server.clicks.has(`${ordinal}/${sequence}`)) && !isRepeat)
        continue;
      await same(what, (client) => insertBlock(client, { table: 'clicks', block: block(), token }));
      if (server.clicks.size === before) dropped += 1;
      next = Math.max(next, first + count);
    } else if (kind < 0.85) {
      const least = random.integer(0, next);
      const range = {
        minTs: begin + random.integer(0, next),
        maxTs: begin + next,
        minSequence: BigInt(least),
        maxSequence: BigInt(least + random.integer(0, 20)),
      };
      await same(what, (client) => presentSequences(client, { table: 'clicks', ...range }));
    } else {
      const marks = [0, 1, 2].map((ordinal) => ({
        ordinal,
        highWater: BigInt(random.integer(-1, next)),
        visibleBefore: random.pick([0, begin + random.integer(0, next)]),
      }));
      await same(what, (client) => storedAbove(client, marks));
    }
  }
  expect(dropped).toBeGreaterThan(5);
  expect(server.clicks.size).toBeGreaterThan(100);
});
