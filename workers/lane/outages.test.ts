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
