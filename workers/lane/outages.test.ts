import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { uuidv7 } from '../../core/ids.ts';
import { createPool } from '../../sql/database/pool.ts';
import { createSlowGate } from '../../test/support/slow-gate.ts';
import { until } from '../../test/support/until.ts';
import { createRig, metric, type Rig } from '../../test/support/worker-rig.ts';
import { click } from '../test-support/events.ts';
import { createGate, type Gate } from '../test-support/gate.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;
/** Events of one test, however long its outages last. */
const MOST_EVENTS = 40_000;

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
  await rig.stores.createTables();
});
afterEach(() => rig.close());

/** Appends clicks all the time while `gate` shuts and opens a few times, each time until the workers have met it. */
async function underLoad(
  gate: Pick<Gate, 'shut' | 'open'>,
  { registry }: { registry: Registry },
): Promise<{ events: number; settled: Promise<void> }> {
  const stream = await rig.stream('ingest-0');
  const { workspace } = rig;
  let events = 0;
  let loading = true;
  const load = (async () => {
    while (loading) {
      const count = Math.min(40, MOST_EVENTS - events);
      const batch = Array.from({ length: count }, () =>
        click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + events++ }),
      );
      if (count > 0) stream.append(batch);
      await sleep(5);
    }
  })();
  const retries = () => metric(registry, 'hoplog_worker_retries_total');
  for (let outage = 0; outage < 3; outage++) {
    const [before, begun] = [await retries(), events];
    await until(
      'events before the outage',
      () => events,
      (now) => now >= Math.min(begun + 1_000, MOST_EVENTS),
    );
    await gate.shut();
    await until('a worker has met the outage', retries, (now) => now > before);
    await gate.open();
  }
  loading = false;
  await load;
  return { events, settled: rig.settled(stream) };
}

describe('a database that goes down and returns', () => {
  it('loses nothing and duplicates nothing when it is ClickHouse', async () => {
    const gate = await createGate(rig.stores.clickhouseUrl);
    const clickhouse = createClickHouse({ url: gate.url, database: rig.stores.clickhouseDatabase });
    const workers = rig.work({ clickhouse });
    const { events, settled } = await underLoad(gate, workers);
    await settled;
    expect(await rig.stored()).toEqual({ rows: events, distinct: events });
    expect(await metric(workers.registry, 'hoplog_worker_retries_total')).toBeGreaterThan(0);
    await workers.stop();
    await clickhouse.close();
    await gate.shut();
  });

  it('loses nothing and duplicates nothing when it is PostgreSQL, and its host vanishes silently', async () => {
    const gate = await createSlowGate(rig.stores.databaseUrl);
    const pool = createPool(gate.url, {
      connectTimeoutMs: 1_000,
      statementTimeoutMs: 1_000,
      responseTimeoutMs: 1_500,
    });
    const workers = rig.work({ pool });
    const silence = {
      shut: async () => gate.holdAnswers('all'),
      open: async () => gate.holdAnswers('none'),
    };
    const { events, settled } = await underLoad(silence, workers);
    await settled;
    expect(await rig.stored()).toEqual({ rows: events, distinct: events });
    expect(await metric(workers.registry, 'hoplog_worker_retries_total')).toBeGreaterThan(0);
    await workers.stop();
    await pool.end();
    await gate.close();
  });

  it('loses nothing and duplicates nothing when it is PostgreSQL', async () => {
    const gate = await createGate(rig.stores.databaseUrl);
    const pool = createPool(gate.url);
    const workers = rig.work({ pool });
    const { events, settled } = await underLoad(gate, workers);
    await settled;
    expect(await rig.stored()).toEqual({ rows: events, distinct: events });
    expect(await metric(workers.registry, 'hoplog_worker_retries_total')).toBeGreaterThan(0);
    await workers.stop();
    await pool.end();
    await gate.shut();
  });
});

describe('what a database or the log does to one step', () => {
  it('is inserted again when ClickHouse drops a repeat although the rows are gone', async () => {
    const { clickhouse } = rig.stores;
    const stream = await rig.stream('ingest-0');
    const { workspace } = rig;
    let inserts = 0;
    /** Acts like an insert that is cut off during its commit: ClickHouse keeps its token, but not its rows. */
    const cutOff = new Proxy(clickhouse, {
      get(target, property) {
        if (property !== 'exec') return Reflect.get(target, property);
        return async (...given: Parameters<typeof clickhouse.exec>) => {
          const response = await target.exec(...given);
          inserts += 1;
          if (inserts > 1) return response;
          for await (const _ of response.stream);
          const settings = { mutations_sync: '2' } as const;
          await target.command({ query: 'DELETE FROM clicks WHERE true', clickhouse_settings: settings });
          throw new Error('socket hang up');
        };
      },
    });
    const workers = rig.work({ clickhouse: cutOff });
    stream.append(
      Array.from({ length: 20 }, (_, i) =>
        click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + i }),
      ),
    );
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 20, distinct: 20 });
    await workers.stop();
  });

  it('waits between reads while a lane drains and its log does not respond', async () => {
    const stream = await rig.stream('ingest-0');
    const { workspace } = rig;
    let isDown = false;
    let reads = 0;
    const reader = new Proxy(rig.reader, {
      get(target, property) {
        if (property === 'end' && isDown) return async () => stream.end() + 100n;
        if (property !== 'read' || !isDown) return Reflect.get(target, property).bind(target);
        return async () => {
          reads += 1;
          await new Promise((resolve) => setImmediate(resolve));
          throw new Error('no broker responds');
        };
      },
    });
    const workers = rig.work({ reader });
    stream.append([click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW })]);
    await rig.settled(stream);
    isDown = true;
    await workers.stop(500);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(20);
  });
});
