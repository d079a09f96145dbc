import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { ClockEvent } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { clockShiftAt, hasOpenCorrections } from '../../sql/event-log/clock-corrections.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { click, heartbeat, identify, order } from '../test-support/events.ts';
import { correctTimes } from './correct-times.ts';

const SECOND = 1_000_000;
const YEARS = 10 * 365 * 86_400 * SECOND;
const PATIENT = { timeout: 60_000, interval: 100 };

let rig: Rig;
let now: number;
beforeEach(async () => {
  rig = await createRig({ isPooled: true });
  now = Date.now() * 1_000 - 600 * SECOND;
});
afterEach(() => rig.close());

function clickAt(ts: number) {
  return click({ workspace: rig.workspace, link: uuidv7(), visitor: uuidv7(), ts });
}

function correction(given: Omit<ClockEvent, 'kind'>): ClockEvent {
  return { kind: 'clock', ...given };
}

/** Times of the stored clicks, microseconds after `now`. */
async function times(): Promise<number[]> {
  const { all } = await rig.ask<{ all: string[] }>(
    'SELECT arraySort(groupArray(toUnixTimestamp64Micro(ts))) AS all FROM clicks',
  );
  return all.map((ts) => Number(ts) - now);
}

const done = async () => !(await hasOpenCorrections(rig.stores.pool));

/**
 * A click that is right, some that are ahead by `shift` from 10 s on, a correction at 20 s, and a click that is right.
 */
async function aheadFor(shift: number, landedAt: readonly number[] = []) {
  const stream = await rig.stream('ingest-0');
  stream.append([clickAt(now)]);
  const first = stream.next();
  const visitor = uuidv7();
  stream.append([
    clickAt(now + shift + 10 * SECOND),
    identify({
      workspace: rig.workspace,
      visitor,
      ts: now + shift + 11 * SECOND,
      email: 'a@b.example',
      landedAt,
    }),
    order({ workspace: rig.workspace, visitor, ts: now + shift + 12 * SECOND, orderId: 'o-1', landedAt }),
    clickAt(now + shift + 19 * SECOND),
    heartbeat(now + shift + 19 * SECOND + 1),
  ]);
  const before = stream.next();
  stream.append([
    correction({
      ts: now + 20 * SECOND,
      first: String(first),
      before: String(before),
      fromTs: now + shift + 10 * SECOND,
      toTs: now + shift + 19 * SECOND + 1,
      shift,
    }),
  ]);
  stream.append([clickAt(now + 21 * SECOND)]);
  return stream;
}

const RIGHT = [0, 10, 19, 21].map((seconds) => seconds * SECOND);

describe('events of a stream whose clock was ahead', () => {
  it.each([
    ['ten years', YEARS],
    ['less than it lasted', 6 * SECOND],
  ])('get their right times: ahead by %s', async (_name, shift) => {
    const stream = await aheadFor(shift);
    rig.work();
    await rig.settled(stream);
    await expect.poll(done, PATIENT).toBe(true);
    expect(await times()).toEqual(RIGHT);
    expect(await rig.stored('identifies')).toEqual({ rows: 1, distinct: 1 });
    await rig.published();
    const stored = await rig.ask<{ ts: string; version: string }>(
      'SELECT toUnixTimestamp64Micro(ts) AS ts, toString(version) AS version FROM orders FINAL',
    );
    const { rows } = await rig.stores.pool.query<{ ts: number; version: string }>(
      'SELECT ts, version::text FROM orders',
    );
    expect(rows).toEqual([{ ts: now + 12 * SECOND, version: stored.version }]);
    expect(Number(stored.ts)).toBe(now + 12 * SECOND);
    expect(await watermark(rig.stores.pool)).toBe(now + 21 * SECOND + 1);
  });

  it('get their right times while they wait until it is known whose visitors they name', async () => {
    const stream = await aheadFor(YEARS, [now + YEARS + 10 * SECOND]);
    rig.work();
    await rig.settled(stream);
    const orders = async () => (await rig.stores.pool.query('SELECT ts FROM orders')).rows;
    await expect.poll(orders).toEqual([{ ts: now + 12 * SECOND }]);
    const identified = async () =>
      (
        await rig.ask<{ all: string[] }>(
          'SELECT groupArray(toUnixTimestamp64Micro(ts)) AS all FROM identifies',
        )
      ).all.map((ts) => Number(ts) - now);
    expect(await identified()).toEqual([11 * SECOND]);
    await expect.poll(done, PATIENT).toBe(true);
    expect(await identified()).toEqual([11 * SECOND]);
  });

  it('no longer hold the watermark in the future, once the correction is read', async () => {
    const stream = await rig.stream('ingest-0');
    rig.work();
    stream.append([heartbeat(now + YEARS)]);
    await rig.settled(stream);
    expect(await watermark(rig.stores.pool)).toBe(now + YEARS + 1);
    const shared = { fromTs: now + YEARS, toTs: now + YEARS, shift: YEARS };
    stream.append([correction({ ts: now + SECOND, first: '0', before: String(stream.next()), ...shared })]);
    await rig.settled(stream);
    expect(await watermark(rig.stores.pool)).toBe(now + SECOND + 1);
    stream.append([heartbeat(now + 2 * SECOND)]);
    await rig.settled(stream);
    expect(await watermark(rig.stores.pool)).toBe(now + 2 * SECOND + 1);
    expect(await clockShiftAt(rig.stores.pool, BigInt(now + YEARS + 1)), 'of a place given then').toBe(YEARS);
    expect(await clockShiftAt(rig.stores.pool, BigInt(now + YEARS / 2))).toBe(0);
  });

  it('are stored once, wherever a correction is interrupted', async () => {
    const { pool, clickhouse } = rig.stores;
    const stream = await aheadFor(YEARS);
    const workers = rig.work({ clickhouse: readOnly(clickhouse) });
    await rig.settled(stream);
    await workers.stop();
    const log = silentLogger();
    for (let calls = 1; !(await done()); calls++) {
      // Each statement fails once before it takes effect and once after.
      for (const isLate of [false, true]) {
        const failing = failingAt(clickhouse, calls, isLate);
        await correctTimes({ pool, replicas: [{ name: 'main', clickhouse: failing }], log }).catch(
          (error: Error) => {
            expect(error.message).toBe('cut off');
          },
        );
      }
    }
    expect(await times()).toEqual(RIGHT);
    expect(await rig.stored('clicks')).toEqual({ rows: 4, distinct: 4 });
    expect(await rig.stored('identifies')).toEqual({ rows: 1, distinct: 1 });
  });

  it('keep their times where it is not known since when the clock was ahead and others are in the way', async () => {
    const hour = 3_600 * SECOND;
    const stream = await rig.stream('ingest-0');
    // The clock was an hour ahead for longer than an hour, so clicks from more than an hour ago look right.
    stream.append([clickAt(now - SECOND), clickAt(now + SECOND), clickAt(now + hour - SECOND)]);
    const before = String(stream.next());
    const ahead = { fromTs: now, toTs: now + hour - SECOND, shift: hour };
    stream.append([correction({ ts: now, first: '0', before, ...ahead })]);
    rig.work();
    await rig.settled(stream);
    await expect.poll(done, PATIENT).toBe(true);
    expect(await times()).toEqual([-SECOND, SECOND, hour - SECOND]);
  });
});

/** The client without the statements that correct times, so that the workers leave them to the test. */
function readOnly(client: ClickHouseClient): ClickHouseClient {
  return intercepted(client, async (query, run) => {
    if (query.includes('REPLACE') || query.includes('DELETE')) throw new Error('left to the test');
    return run();
  });
}

function failingAt(client: ClickHouseClient, at: number, isLate: boolean): ClickHouseClient {
  let calls = 0;
  return intercepted(client, async (_query, run) => {
    calls += 1;
    if (calls === at && !isLate) throw new Error('cut off');
    const result = await run();
    if (calls === at) throw new Error('cut off');
    return result;
  });
}

function intercepted(
  client: ClickHouseClient,
  around: <T>(query: string, run: () => Promise<T>) => Promise<T>,
): ClickHouseClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'command') return typeof value === 'function' ? value.bind(target) : value;
      return (params: { query: string }) => around(params.query, () => target.command(params));
    },
  });
}
