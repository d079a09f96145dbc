import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { JournalReader } from '../../core/event-log/journal/reader.ts';
import { segmentPath, streamDirectory } from '../../core/event-log/journal/segments.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import type { ClickEvent } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { type RegisteredStream, registerStream } from '../../sql/event-log/streams.ts';
import { until } from '../../test/support/until.ts';
import { createRig, metric, type Rig } from '../../test/support/worker-rig.ts';
import { click, heartbeat } from '../test-support/events.ts';
import { createLogWriter, type LogWriter } from '../test-support/log-writer.ts';
import type { Workers } from '../workers.ts';
import type { LaneState } from './lane.ts';

const KILLED_WORKER = fileURLToPath(new URL('../test-support/killed-worker.ts', import.meta.url));
const NOW = Date.UTC(2026, 10, 20) * 1000;
const NAME = 'ingest-0';
/** Where no log of these tests ends. */
const FAR = 10_000_000_000n;

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
  await rig.stores.createTables();
});
afterEach(() => rig.close());

type Stream = LogWriter & RegisteredStream;

/** Begins a segment of the stream at `start`; of a new stream, where none is given. */
async function begin(start: bigint, known?: RegisteredStream): Promise<Stream> {
  const identity = known ?? (await registerStream(rig.stores.pool, NAME));
  const sealer = createAddressSealer(rig.addressKey);
  return { ...identity, ...createLogWriter(rig.dataDir, NAME, identity, sealer, start) };
}

let made = 0;
function clicks(count: number): ClickEvent[] {
  const { workspace } = rig;
  return Array.from({ length: count }, () =>
    click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + made++ }),
  );
}

function removeJournal(): void {
  rmSync(streamDirectory(rig.dataDir, NAME), { recursive: true });
}

/** Leaves a row as an earlier log has: taken before, and at `place`. */
async function leaveRow(place: bigint): Promise<void> {
  await rig.stores.pool.query(
    `INSERT INTO log_lanes (consumer, partition, epoch, next_offset) VALUES ('store', $1, 3, $2)`,
    [NAME, String(place)],
  );
}

async function row(): Promise<{ place: bigint; intent: object | null }> {
  const { rows } = await rig.stores.pool.query<{ next_offset: string; intent: object | null }>(
    `SELECT next_offset, intent FROM log_lanes WHERE consumer = 'store'`,
  );
  return { place: BigInt(rows[0]?.next_offset ?? -1), intent: rows[0]?.intent ?? null };
}

/** Runs a worker process until it has killed itself at a state. */
async function runKilled(state: LaneState): Promise<void> {
  const { databaseUrl, clickhouseUrl, clickhouseDatabase } = rig.stores;
  const key = rig.addressKey.toString('hex');
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      KILLED_WORKER,
      ...[databaseUrl, clickhouseUrl, clickhouseDatabase, rig.dataDir, key, state, '0'],
    ],
    { stdio: 'inherit' },
  );
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

/** Works until a lane has reached a state, and leaves all as it is then. */
async function workUntil(state: LaneState): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const workers: Workers = rig.work({
    onState(at) {
      if (at !== state) return;
      reached.resolve();
      return new Promise((_, reject) => setTimeout(reject, 200, new Error(`ended when ${state}`)));
    },
  });
  await reached.promise;
  await workers.stop(0);
}

const lost = (registry: Parameters<typeof metric>[0], cause?: string) =>
  metric(registry, 'hoplog_worker_log_lost_total', cause ? { cause } : {});

/** Workers have taken in thirty clicks of a log whose earlier part is gone. */
async function workLogWithoutItsBeginning(first: 'clicks' | 'heartbeats') {
  const stream = await begin(5_000_000n);
  if (first === 'heartbeats') stream.append([heartbeat(NOW + made++)]);
  stream.append(clicks(30));
  const { registry } = rig.work();
  await rig.settled(stream);
  return registry;
}

describe('a lane whose offset the log does not hold', () => {
  it.each(['clicks', 'heartbeats'] as const)(
    'past the end of another journal, stores all of that one, %s first, and nothing unread is truncated',
    async (first) => {
      await leaveRow(FAR);
      const early = await begin(0n);
      if (first === 'heartbeats') early.append([heartbeat(NOW + made++)]);
      early.append(clicks(30));
      const stream = await begin(100_000n, early);
      stream.append(clicks(40), early.next());
      const { registry } = rig.work();
      await rig.settled(stream);
      stream.append(clicks(5));
      await rig.settled(stream);
      expect(await rig.stored()).toEqual({ rows: 75, distinct: 75 });
      expect(await lost(registry)).toBe(1);
      expect(await lost(registry, 'cut')).toBe(1);
      expect(await metric(registry, 'hoplog_worker_lanes_ended_total')).toBe(0);
      // Now that it is stored the first segment is given back.
      await expect.poll(() => readdirSync(streamDirectory(rig.dataDir, NAME))).toHaveLength(1);
    },
  );

  it.each(['clicks', 'heartbeats'] as const)(
    'below the start, stores what is there, %s first, and reports once what was truncated',
    async (first) => {
      await leaveRow(1_000n);
      const registry = await workLogWithoutItsBeginning(first);
      expect(await rig.stored()).toEqual({ rows: 30, distinct: 30 });
      expect(await lost(registry)).toBe(1);
      expect(await lost(registry, 'freed')).toBe(1);
    },
  );

  it.each(['clicks', 'heartbeats'] as const)(
    'because it is new and the log has an earlier part no more, stores what is there, %s first, without an alarm',
    async (first) => {
      const registry = await workLogWithoutItsBeginning(first);
      expect(await rig.stored()).toEqual({ rows: 30, distinct: 30 });
      expect(await lost(registry)).toBe(0);
    },
  );

  it('has every event once when workers are killed between the reset and the end of the first store', async () => {
    await leaveRow(FAR);
    const stream = await begin(0n);
    stream.append(clicks(300));
    await runKilled('prepared');
    expect(await row()).toEqual({ place: 0n, intent: null });
    await runKilled('intended');
    await runKilled('inserted');
    stream.append(clicks(50));
    const { registry } = rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 350, distinct: 350 });
    // The first one has said it.
    expect(await lost(registry)).toBe(0);
  });

  it('and that another worker takes between the reset and the first insert, has every event once', async () => {
    await leaveRow(FAR);
    const stream = await begin(0n);
    stream.append(clicks(300));
    const overtaken = Promise.withResolvers<number>();
    const first = rig.work({
      async onState(reached, lane) {
        if (reached !== 'prepared' || lane.epoch !== 4) return;
        const second = rig.work();
        const expire = async () => {
          const { rows } = await rig.stores.pool.query<{ epoch: number }>(
            `UPDATE log_lanes SET held_until = CASE epoch WHEN 4 THEN now() - interval '1 hour' ELSE held_until END
             RETURNING epoch`,
          );
          return rows[0]?.epoch;
        };
        await until('the second worker takes the lane', expire, (epoch) => epoch !== 4);
        await rig.settled(stream);
        await second.stop();
        overtaken.resolve(await lost(second.registry));
      },
    });
    expect(await overtaken.promise).toBe(0);
    stream.append(clicks(5));
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 305, distinct: 305 });
    expect(await lost(first.registry)).toBe(1);
  });

  it('that a power cut took waits for the writer to put the journal in order', async () => {
    const { stream, reader, restarted } = await poweredOff();
    const ends = vi.spyOn(reader, 'end');
    const { registry } = rig.work({ reader, patienceMs: 60_000 });
    await expect.poll(() => ends.mock.calls.length).toBeGreaterThan(10);
    const again = await restarted();
    await rig.settled(again);
    expect(await rig.stored()).toEqual({ rows: 90, distinct: 90 });
    expect(stream.streamId).toBe(again.streamId);
    expect(await lost(registry)).toBe(0);
    expect(await metric(registry, 'hoplog_worker_duplicates_dropped_total')).toBe(0);
  });

  it('that a power cut took is left when the writer does not come back, and all is stored once when it does', async () => {
    const { reader, restarted } = await poweredOff();
    const { registry } = rig.work({ reader });
    await expect.poll(() => lost(registry)).toBeGreaterThan(0);
    const again = await restarted();
    await rig.settled(again);
    expect(await rig.stored()).toEqual({ rows: 90, distinct: 90 });
    expect(await lost(registry)).toBe(1);
  });

  /** A journal whose last 20 events were stored, but never synced. */
  async function poweredOff() {
    const stream = await begin(0n);
    stream.append(clicks(50));
    const synced = await rig.reader.end(NAME);
    stream.append(clicks(20));
    const before = rig.work();
    await rig.settled(stream);
    await before.stop();
    const reader = new JournalReader(rig.dataDir);
    onTestFinished(() => reader.close());
    const path = segmentPath(streamDirectory(rig.dataDir, NAME), 0n);
    truncateSync(path, Number(synced));
    truncateSync(path, 1_000_000); // the rest of the segment was prepared, and is zeros
    return {
      stream,
      /** Reader of a process that starts afterwards. */
      reader,
      /** The writer cuts the segment and continues behind it, in a new epoch. */
      async restarted() {
        truncateSync(path, Number(synced));
        const again = await begin(2_000_000n, stream);
        again.append(clicks(20), 1n << 40n);
        return again;
      },
    };
  }
});

describe('a lane that is at work', () => {
  it('ends when its row has another offset, and restarts there', async () => {
    const stream = await begin(0n);
    stream.append(clicks(30));
    const { registry } = rig.work();
    await rig.settled(stream);
    await until('the lane has advanced', row, ({ place }) => place !== 0n, { intervalMs: 10 });
    await rig.stores.pool.query('UPDATE log_lanes SET next_offset = 0');
    stream.append([heartbeat(NOW + made++)]);
    await rig.settled(stream);
    stream.append(clicks(30));
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 60, distinct: 60 });
    expect(await metric(registry, 'hoplog_worker_lanes_ended_total', { cause: 'error' })).toBe(1);
    expect(await lost(registry)).toBe(0);
  });

  it('takes its lane again where PostgreSQL goes back under it, and stores no event twice', async () => {
    const { pool } = rig.stores;
    const stream = await begin(0n);
    stream.append(clicks(30));
    const { registry } = rig.work();
    await rig.settled(stream);
    const { place } = await row();
    const { rows } = await pool.query<{ high_water: string; visible_before: number }>(
      'SELECT high_water, visible_before FROM ingest_streams',
    );
    stream.append(clicks(30));
    await rig.settled(stream);
    // As an asynchronous standby that has taken over.
    await pool.query(
      `WITH lanes AS (UPDATE log_lanes SET next_offset = $1)
       UPDATE ingest_streams SET high_water = $2, visible_before = $3`,
      [String(place), rows[0]?.high_water, rows[0]?.visible_before],
    );
    stream.append(clicks(30));
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 90, distinct: 90 });
    expect(await metric(registry, 'hoplog_worker_duplicates_dropped_total', { found: 'store' })).toBe(30);
  });

  it.each([
    ['far smaller', 2_000_000n],
    ['a little smaller', 0n],
  ])('notices that its journal has made way for one that is %s', async (_, start) => {
    const former = await begin(start);
    former.append(clicks(300));
    const { registry } = rig.work();
    await rig.settled(former);
    removeJournal();
    const stream = await begin(0n);
    stream.append(clicks(30));
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 330, distinct: 330 });
    expect(await lost(registry)).toBe(1);
    expect(await metric(registry, 'hoplog_worker_sequence_gaps_total')).toBe(0);
  });
});

describe('an intent whose range the log does not hold', () => {
  it('is dropped, and events that come again under other offsets are stored once, also after kills', async () => {
    const former = await begin(FAR);
    const events = clicks(200);
    former.append(events.slice(0, 100));
    former.append(events.slice(100));
    await workUntil('inserted');
    expect((await row()).intent).toMatchObject({ token: expect.any(String) });
    expect(await rig.stored()).toEqual({ rows: 200, distinct: 200 });
    // As a shipper does that finds a new cluster: the whole journal once more, in other pieces.
    removeJournal();
    const stream = await begin(0n, former);
    stream.append(events.slice(0, 60));
    await runKilled('prepared');
    expect(await row()).toEqual({ place: 0n, intent: null });
    await runKilled('advanced');
    stream.append(events.slice(60, 150));
    await runKilled('intended');
    stream.append([...events.slice(150), ...clicks(20)]);
    const { registry } = rig.work();
    await rig.settled(stream);
    stream.append(clicks(20));
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 240, distinct: 240 });
    expect(await lost(registry)).toBe(0);
    expect((await row()).intent).toBeNull();
    expect(await metric(registry, 'hoplog_worker_duplicates_dropped_total', { found: 'store' })).toBe(140);
  });

  it('is dropped and reported once, and the lane stores what the new log holds', async () => {
    const former = await begin(FAR);
    former.append(clicks(100));
    await workUntil('intended');
    removeJournal();
    const stream = await begin(0n);
    stream.append(clicks(40));
    const { registry } = rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 40, distinct: 40 });
    expect(await lost(registry)).toBe(1);
    expect(await row()).toMatchObject({ intent: null });
  });

  it('is not replayed from another log, whose events are all stored', async () => {
    const former = await begin(0n);
    former.append(clicks(100));
    await workUntil('inserted');
    removeJournal();
    const stream = await begin(0n);
    stream.append(clicks(100));
    stream.append(clicks(40));
    const { registry } = rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 240, distinct: 240 });
    expect(await lost(registry, 'cut')).toBe(1);
  });

  it('and that was truncated in part, is stored once as far as the log holds it', async () => {
    const early = await begin(0n);
    const events = clicks(100);
    early.append(events.slice(0, 60));
    const late = await begin(1_000_000n, early);
    late.append(events.slice(60), 60n);
    await workUntil('inserted');
    rmSync(segmentPath(streamDirectory(rig.dataDir, NAME), 0n));
    const { registry } = rig.work();
    await rig.settled(late);
    late.append(clicks(10));
    await rig.settled(late);
    expect(await rig.stored()).toEqual({ rows: 110, distinct: 110 });
    expect(await lost(registry, 'freed')).toBe(1);
  });
});
