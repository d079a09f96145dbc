import { rmSync } from 'node:fs';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hideVisitor } from '../../clickhouse/erasures.ts';
import { ELSEWHERE } from '../../clickhouse/inserts/elsewhere.ts';

import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { streamDirectory } from '../../core/event-log/journal/segments.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import type { ClockEvent } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import { hasOpenCorrections } from '../../sql/event-log/clock-corrections.ts';
import { createRig, metric, type Rig } from '../../test/support/worker-rig.ts';
import { replayDeadLetters } from '../dead-letters/replay.ts';
import { exposeCounts } from '../exposed-counts.ts';
import { correctTimes } from '../jobs/correct-times.ts';
import { eraseRequested } from '../jobs/erase.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { click } from '../test-support/events.ts';
import { createLogWriter } from '../test-support/log-writer.ts';
import { compareCounts } from './compare-counts.ts';
import { compareHours } from './compare-hours.ts';
import { hourName } from './differences.ts';

const HOUR_MICROS = 3_600_000_000;
const ALL = { from: 0, to: null };

let rig: Rig;
let now: number;
let registry: Registry;
beforeEach(async () => {
  rig = await createRig();
  now = Date.now() * 1_000 - 60_000_000;
  registry = new Registry();
  exposeCounts(rig.stores.pool, registry);
});
afterEach(() => rig.close());

const replica = () => ({ name: MAIN_REPLICA, clickhouse: rig.stores.clickhouse });
const differences = () => compareHours(rig.stores.pool, replica(), ALL);
const command = (query: string) => rig.stores.clickhouse.command({ query });

function clicks(count: number, given: { visitor?: string; link?: string; from?: number } = {}) {
  const { from = now, visitor, link } = given;
  now = from + count;
  return Array.from({ length: count }, (_, nth) =>
    click({
      workspace: rig.workspace,
      link: link ?? uuidv7(),
      visitor: visitor ?? uuidv7(),
      ts: from + nth,
    }),
  );
}

/** Runs a pass of the job, and returns the differences as the metric has them. */
async function pass(at = Date.now()) {
  // As if the last pass were a minute ago.
  await rig.stores.pool.query(`UPDATE count_comparisons SET compared_at = compared_at - interval '1 minute'`);
  await compareCounts({ pool: rig.stores.pool, replicas: [replica()], log: silentLogger() }, at);
  const found = (await registry.getMetricsAsJSON()).find(({ name }) => name === 'hoplog_count_difference');
  return found?.values.map(({ labels, value }) => ({ ...labels, value }));
}

describe('the comparison of ClickHouse with the log', () => {
  it('names the stream and hour of a click that is missing, and of one that is there twice', async () => {
    const [one, two] = [await rig.stream('ingest-0'), await rig.stream('ingest-1')];
    rig.work();
    one.append(clicks(50));
    two.append(clicks(50, { from: now - 3 * HOUR_MICROS }));
    await rig.settled(one);
    await rig.settled(two);
    const [present, past] = [now + 3 * HOUR_MICROS, now].map((ts) => hourName(Math.floor(ts / HOUR_MICROS)));
    expect(await pass()).toEqual([{ replica: MAIN_REPLICA, value: 0 }]);

    await command('DELETE FROM clicks WHERE sequence = 7 AND toUnixTimestamp64Nano(ts) % 1000 = 0');
    const missing = { replica: MAIN_REPLICA, stream: 'ingest-0', hour: present, value: 1 };
    expect(await pass()).toEqual([missing]);
    // Another click twice: as many rows as the log had clicks.
    await command(
      `INSERT INTO clicks SELECT * FROM clicks WHERE sequence = 9 AND toUnixTimestamp64Nano(ts) % 1000 = 0`,
    );
    expect(await pass()).toEqual([missing]);
    await command(
      `INSERT INTO clicks SELECT * FROM clicks WHERE sequence = 8 AND toUnixTimestamp64Nano(ts) % 1000 = 1`,
    );
    const double = { replica: MAIN_REPLICA, stream: 'ingest-1', hour: past, value: 1 };
    // Each pass compares one older hour, backward.
    await rig.stores.pool.query('UPDATE count_comparisons SET next_hour = 0');
    for (let passes = 0; passes < 4; passes++) await pass();
    expect(await pass()).toEqual([double, missing]);

    // Once the clicks are right again, the differences end.
    await command('DELETE FROM clicks WHERE true');
    await rig.stores.pool.query('DELETE FROM counted_clicks');
    expect(await pass()).toEqual([{ replica: MAIN_REPLICA, value: 0 }]);
    expect(await metric(registry, 'hoplog_count_compared_age_seconds')).toBeLessThan(60);
  });

  it('finds no difference at any time under clicks and erasures of those who click', async () => {
    const { pool, clickhouse } = rig.stores;
    const stream = await rig.stream('ingest-0');
    rig.work();
    const metrics = createWorkerMetrics(new Registry());
    const visitors = Array.from({ length: 12 }, () => uuidv7());
    const links = [uuidv7(), uuidv7()];
    const remaining = uuidv7();
    const writers = [...visitors, remaining];
    let isOver = false;
    const writing = (async () => {
      for (let nth = 0; !isOver; nth++) {
        now = Math.max(now, Date.now() * 1_000);
        const given = { visitor: writers[nth % writers.length], link: links[nth % 2] };
        stream.append(clicks(40, given));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const comparing = (async () => {
      const found: unknown[] = [];
      while (!isOver) found.push(...(await differences()));
      return found;
    })();
    for (const [nth, targetId] of visitors.entries()) {
      const erased = { workspaceId: rig.workspace, kind: 'visitor', targetId } as const;
      await hideVisitor(clickhouse, erased, { emails: [], users: [] });
      await requestErasure(pool, erased);
      const link = links[nth % 2] ?? '';
      if (nth % 6 === 5) await requestErasure(pool, { ...erased, kind: 'link', targetId: link });
      await eraseRequested({ ...rig.stores, metrics });
    }
    isOver = true;
    await writing;
    expect(await comparing).toEqual([]);
    await rig.settled(stream);
    const left = async () => {
      await eraseRequested({ ...rig.stores, metrics });
      const { open } = await rig.ask<{ open: string }>(
        'SELECT count() AS open FROM system.mutations WHERE database = currentDatabase() AND NOT is_done',
      );
      return Number(open);
    };
    await expect.poll(left).toBe(0);
    expect(await differences()).toEqual([]);
    const { removed } = await rig.ask<{ removed: string }>(
      'SELECT count() AS removed FROM removed_clicks FINAL',
    );
    expect(Number(removed)).toBeGreaterThan(100);
    // A click that is removed without a record is found. The workers' own erasures never record one of these.
    const own = `visitor_id = '${remaining}' AND link_id = '${links[0]}'`;
    await command(`DELETE FROM clicks WHERE sequence IN (SELECT max(sequence) FROM clicks WHERE ${own})`);
    expect(await differences()).toMatchObject([{ ordinal: 0 }]);
  });

  it('knows dead letters and their replay, gaps, corrected clocks, and clicks of elsewhere', async () => {
    const { pool } = rig.stores;
    const stream = await rig.stream('ingest-0');
    const sealer = createAddressSealer(rig.addressKey);
    let isBroken = true;
    const enricher = createEnricher({ geo: emptyGeo() });
    const breaking = {
      ...enricher,
      enrichClick: (event: Parameters<typeof enricher.enrichClick>[0]) => {
        if (isBroken && event.channel === 'direct') throw new Error('poison');
        return enricher.enrichClick(event);
      },
    };
    rig.work({ enricher: breaking });
    const [poison] = clicks(1);
    stream.append([
      ...clicks(3),
      { ...poison, channel: 'direct' } as never,
      ...clicks(2, { from: now + 10 }),
    ]);
    await rig.settled(stream);
    expect(await differences()).toEqual([]);
    isBroken = false;
    const replayed = await replayDeadLetters({
      pool,
      replicas: rig.stores.replicas,
      decode: (batch) => decodeEvents(batch, sealer),
      enricher: breaking,
      metrics: createWorkerMetrics(new Registry()),
      log: silentLogger(),
    });
    expect(replayed).toEqual({ replayed: 1, left: 0 });
    expect(await rig.stored()).toMatchObject({ rows: 6 });
    expect(await differences()).toEqual([]);

    // Rows of another deployment's log, and of an import.
    await command(
      `INSERT INTO clicks SELECT * REPLACE (bitOr(sequence, ${ELSEWHERE}) AS sequence) FROM clicks`,
    );
    await command(
      `INSERT INTO clicks SELECT * REPLACE (ts - toIntervalNanosecond(toUnixTimestamp64Nano(ts) % 1000) + toIntervalNanosecond(999) AS ts)
       FROM clicks`,
    );
    expect(await differences()).toEqual([]);

    const shift = 2 * HOUR_MICROS;
    const first = stream.next();
    const ahead = clicks(5, { from: now + shift });
    stream.append(ahead);
    const [fromTs, toTs] = [ahead[0]?.ts ?? 0, now];
    const [firstText, before] = [String(first), String(stream.next())];
    const clock: ClockEvent = {
      kind: 'clock',
      first: firstText,
      before,
      fromTs,
      toTs,
      shift,
      ts: now - shift + 10,
    };
    stream.append([clock]);
    await rig.settled(stream);
    expect(await differences()).toEqual([]);
    const corrected = async () => {
      await correctTimes({ pool, replicas: rig.stores.replicas, log: silentLogger() });
      return hasOpenCorrections(pool);
    };
    await expect.poll(corrected).toBe(false);
    expect(await differences()).toEqual([]);
  });

  it('is right while and after PostgreSQL has gone back, also when the log no longer has what it lost', async () => {
    const { pool } = rig.stores;
    const stream = await rig.stream('ingest-0');
    const other = await rig.stream('ingest-1');
    let workers = rig.work();
    stream.append(clicks(20));
    other.append(clicks(20));
    await rig.settled(stream);
    await rig.settled(other);
    await workers.stop();
    const { rows: streams } = await pool.query(
      'SELECT stream_id, high_water, visible_before FROM ingest_streams',
    );
    const { rows: lanes } = await pool.query('SELECT consumer, partition, next_offset FROM log_lanes');
    const { rows: counted } = await pool.query('SELECT ordinal, hour, clicks, sequences FROM counted_clicks');
    workers = rig.work();
    stream.append(clicks(30));
    other.append(clicks(30));
    await rig.settled(stream);
    await rig.settled(other);
    await workers.stop();

    async function goBack(): Promise<void> {
      for (const row of streams) {
        await pool.query(
          'UPDATE ingest_streams SET high_water = $2, visible_before = $3 WHERE stream_id = $1',
          [row.stream_id, row.high_water, row.visible_before],
        );
      }
      for (const row of lanes) {
        await pool.query('UPDATE log_lanes SET next_offset = $3 WHERE consumer = $1 AND partition = $2', [
          row.consumer,
          row.partition,
          row.next_offset,
        ]);
      }
      await pool.query('DELETE FROM counted_clicks');
      for (const row of counted) {
        await pool.query('INSERT INTO counted_clicks VALUES ($1, $2, $3, $4, false)', [
          row.ordinal,
          row.hour,
          row.clicks,
          row.sequences,
        ]);
      }
    }

    await goBack();
    expect(await differences()).toEqual([]);
    workers = rig.work();
    await rig.settled(stream);
    await rig.settled(other);
    expect(await differences()).toEqual([]);
    await workers.stop();
    expect(await rig.stored()).toEqual({ rows: 100, distinct: 100 });

    // The lanes are behind the log, which has lost the clicks that ClickHouse has.
    await goBack();
    const segments = streamDirectory(rig.dataDir, 'ingest-0');
    rmSync(segments, { recursive: true });
    const sealer = createAddressSealer(rig.addressKey);
    const later = createLogWriter(rig.dataDir, 'ingest-0', stream, sealer, stream.end() + 1_000n);
    // The next start of its process.
    later.append(clicks(10), 1n << 40n);
    workers = rig.work();
    await rig.settled({ ...stream, next: later.next });
    await rig.settled(other);
    expect(await rig.stored()).toEqual({ rows: 110, distinct: 110 });
    expect(await differences()).toEqual([]);
  });
});
