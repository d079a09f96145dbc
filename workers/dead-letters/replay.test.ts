import { Registry } from 'prom-client';
import { describe, expect } from 'vitest';
import { createEnricher } from '../../core/enrich/enrich.ts';
import { emptyGeo } from '../../core/enrich/geo.ts';
import { mergeBatches } from '../../core/event-log/kafka/record.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { createAddressSealer } from '../../core/events/address-seal.ts';
import { decodeEvents } from '../../core/events/codec.ts';
import { releasedRegistry } from '../../core/events/schema-registry.ts';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import { makeLink } from '../../test/support/ingest.ts';
import { type Rig, rigTest } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { click, identify, order } from '../test-support/events.ts';
import { type ReplayDependencies, replayDeadLetters } from './replay.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

function dependencies(rig: Rig): ReplayDependencies {
  const { pool, replicas } = rig.stores;
  const sealer = createAddressSealer(rig.addressKey);
  return {
    pool,
    replicas,
    decode: (batch) => decodeEvents(batch, sealer),
    enricher: createEnricher({ geo: emptyGeo() }),
    metrics: createWorkerMetrics(new Registry()),
    log: silentLogger(),
  };
}

function clicks(rig: Rig, count: number, from: number) {
  const { workspace } = rig;
  return Array.from({ length: count }, (_, i) =>
    click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: from + i }),
  );
}

async function deadLetters(rig: Rig): Promise<number | null> {
  return (await rig.stores.pool.query('SELECT FROM dead_letters')).rowCount;
}

/** Simulates a restore of a backup older than the stream, then the start of the stream's process. */
async function registerAgain(
  rig: Rig,
  streams: { stream_id: string; ordinal: number; name: string }[],
): Promise<void> {
  for (const { stream_id: id, ordinal, name } of streams) {
    await rig.stores.pool.query('INSERT INTO ingest_streams (stream_id, ordinal, name) VALUES ($1, $2, $3)', [
      id,
      ordinal,
      name,
    ]);
  }
}

describe('replaying dead letters', () => {
  rigTest('stores what can be read now, once, and leaves the rest', async ({ rig }) => {
    const stream = await rig.stream('ingest-0');
    stream.append([...clicks(rig, 3, NOW), { raw: Buffer.from([99, 1]), ts: NOW + 9 }]);
    rig.work({
      enricher: {
        enrichClick() {
          throw new Error('no such parser');
        },
      },
    });
    await rig.settled(stream);
    expect(await rig.stored()).toMatchObject({ rows: 0 });
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 3, left: 1 });
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 0, left: 1 });
    expect(await rig.stored()).toEqual({ rows: 3, distinct: 3 });
    expect(await rig.ask('SELECT any(os) AS os FROM clicks')).toEqual({ os: 'iOS' });
  });

  rigTest('does not duplicate what ClickHouse has although the letter is not marked', async ({ rig }) => {
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(rig, 2, NOW));
    rig.work({
      enricher: {
        enrichClick() {
          throw new Error('no such parser');
        },
      },
    });
    await rig.settled(stream);
    const { pool } = rig.stores;
    const { rows } = await pool.query<{ id: number; payload: Buffer }>(
      'SELECT id, payload FROM dead_letters',
    );
    await replayDeadLetters(dependencies(rig));
    for (const { id, payload } of rows) {
      await pool.query('UPDATE dead_letters SET replayed_at = NULL, payload = $2 WHERE id = $1', [
        id,
        payload,
      ]);
    }
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 2, left: 0 });
    expect(await rig.stored()).toEqual({ rows: 2, distinct: 2 });
  });

  rigTest('removes the events from letters that were replayed', async ({ rig }) => {
    const { pool } = rig.stores;
    const stream = await rig.stream('ingest-0');
    stream.append([
      ...clicks(rig, 3, NOW),
      identify({ workspace: rig.workspace, visitor: uuidv7(), ts: NOW + 9, email: 'ann@example.com' }),
    ]);
    const { rows: streams } = await pool.query('DELETE FROM ingest_streams RETURNING *');
    rig.work();
    await expect.poll(() => deadLetters(rig)).toBeGreaterThan(0);
    const holdEmail = () =>
      pool.query(`SELECT FROM dead_letters WHERE position('ann@example.com'::bytea IN payload) > 0`);
    expect((await holdEmail()).rowCount).toBe(1);
    await registerAgain(rig, streams);
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 1, left: 0 });
    expect((await holdEmail()).rowCount).toBe(0);
    // The payload has four events of one byte each: the letter still shows how many events it had.
    const { rows } = await pool.query<{ payload: Buffer }>('SELECT payload FROM dead_letters');
    expect(rows.map(({ payload }) => payload.toString('hex'))).toEqual(['0100000000'.repeat(4)]);
  });

  rigTest('does not count a letter as left that another replay stores meanwhile', async ({ rig }) => {
    const stream = await rig.stream('ingest-0');
    stream.append([...clicks(rig, 40, NOW), { raw: Buffer.from([99, 1]), ts: NOW + 90 }]);
    rig.work({
      enricher: {
        enrichClick() {
          throw new Error('no such parser');
        },
      },
    });
    await rig.settled(stream);
    const outcomes = await Promise.all([
      replayDeadLetters(dependencies(rig)),
      replayDeadLetters(dependencies(rig)),
    ]);
    expect(outcomes.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(40);
    expect(outcomes.map(({ left }) => left)).toEqual([1, 1]);
    expect(await rig.stored()).toEqual({ rows: 40, distinct: 40 });
  });

  rigTest('reads an event only with the schema that it was written with', async ({ rig }) => {
    const sealer = createAddressSealer(rig.addressKey);
    const other = 'f'.repeat(64);
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(rig, 2, NOW));
    // The records name another schema under this name, as of another release.
    const schemas = new Map([['click.v1', other]]);
    rig.work({ decode: (batch) => decodeEvents({ ...batch, schemas }, sealer) });
    await rig.settled(stream);
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 0, left: 2 });
    expect(await rig.stored()).toMatchObject({ rows: 0 });
    // Changes them as if a release that knows that schema read them.
    const known = releasedRegistry().schema(1, 1)?.fingerprint;
    await rig.stores.pool.query('UPDATE dead_letters SET reason = replace(reason, $1, $2)', [other, known]);
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 2, left: 0 });
    expect(await rig.stored()).toEqual({ rows: 2, distinct: 2 });
  });

  rigTest('stores whole batches of a stream that is registered by now, orders included', async ({ rig }) => {
    const { pool } = rig.stores;
    const stream = await rig.stream('ingest-0');
    stream.append([
      ...clicks(rig, 4, NOW),
      order({ workspace: rig.workspace, ts: NOW + 50, orderId: 'o-1' }),
    ]);
    const { rows } = await pool.query('DELETE FROM ingest_streams RETURNING *');
    rig.work();
    await expect.poll(() => deadLetters(rig)).toBeGreaterThan(0);
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 0, left: 1 });
    await registerAgain(rig, rows);
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 1, left: 0 });
    expect(await rig.stored()).toEqual({ rows: 4, distinct: 4 });
    expect((await pool.query('SELECT order_id FROM orders')).rows).toEqual([{ order_id: 'o-1' }]);
  });

  rigTest(
    'counts a click with max_clicks once that was sent twice, in batches that overlap',
    async ({ rig }) => {
      const { pool } = rig.stores;
      const { id: link } = await makeLink(pool, rig.workspace, 'https://example.com/', { max_clicks: 100 });
      const stream = await rig.stream('ingest-0');
      const counted = Array.from({ length: 6 }, (_, i) =>
        click({
          workspace: rig.workspace,
          link,
          visitor: uuidv7(),
          ts: NOW + i,
          flags: CLICK_FLAGS.counted,
        }),
      );
      const letters = [
        [0, 4],
        [0, 4],
        [2, 6],
      ] as const;
      for (const [from, to] of letters) stream.append(counted.slice(from, to), BigInt(from));
      const { rows: streams } = await pool.query('DELETE FROM ingest_streams RETURNING *');
      rig.work();
      await expect.poll(() => deadLetters(rig)).toBe(letters.length);
      await registerAgain(rig, streams);
      const outcomes = await Promise.all([
        replayDeadLetters(dependencies(rig)),
        replayDeadLetters(dependencies(rig)),
      ]);
      expect(outcomes.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(letters.length);
      expect(await rig.stored()).toEqual({ rows: 6, distinct: 6 });
      const { rows } = await pool.query('SELECT link_id, used FROM link_leases');
      expect(rows).toEqual([{ link_id: link, used: 6 }]);
    },
  );

  rigTest('restores nothing of a visitor or a link that was erased meanwhile', async ({ rig }) => {
    const { pool } = rig.stores;
    const { workspace } = rig;
    const [erased, kept, button, link] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const stream = await rig.stream('ingest-0');
    const requested = NOW + 1_000;
    stream.append([
      click({ workspace, link, visitor: erased, ts: NOW, channel: 'erased visitor' }),
      click({ workspace, link: button, visitor: kept, ts: NOW + 1, channel: 'erased link' }),
      click({ workspace, link, visitor: kept, ts: NOW + 2, channel: 'kept' }),
      identify({ workspace, visitor: erased, ts: NOW + 3, email: 'ann@example.com' }),
      identify({ workspace, visitor: kept, ts: NOW + 4, email: 'bob@example.com' }),
      order({
        workspace,
        visitor: erased,
        ts: NOW + 5,
        orderId: 'o-1',
        email: 'ann@example.com',
        user: 'ann',
      }),
      click({ workspace, link, visitor: erased, ts: requested + 1, channel: 'came back' }),
    ]);
    const { rows: streams } = await pool.query('DELETE FROM ingest_streams RETURNING *');
    const workers = rig.work();
    await expect.poll(() => deadLetters(rig)).toBeGreaterThan(0);
    // The workers' own erasure job would run before the times of the requests are set.
    await workers.stop();
    await registerAgain(rig, streams);
    for (const [kind, targetId] of [
      ['visitor', erased],
      ['link', button],
    ] as const) {
      await requestErasure(pool, { workspaceId: workspace, kind, targetId });
    }
    await pool.query('UPDATE erasures SET done_at = now(), requested_at = to_timestamp($1)', [
      requested / 1_000_000,
    ]);
    expect(await replayDeadLetters(dependencies(rig))).toEqual({ replayed: 1, left: 0 });
    expect(
      await rig.ask('SELECT groupArray(channel) AS channels FROM (SELECT channel FROM clicks ORDER BY ts)'),
    ).toEqual({ channels: ['kept', 'came back'] });
    expect(await rig.ask('SELECT groupArray(email) AS emails FROM identifies')).toEqual({
      emails: ['bob@example.com'],
    });
    expect((await pool.query('SELECT email FROM identities')).rows).toEqual([{ email: 'bob@example.com' }]);
    const nobodys = { order_id: 'o-1', visitor_id: null, email: null, external_user_id: null };
    expect((await pool.query(`SELECT ${Object.keys(nobodys)} FROM orders`)).rows).toEqual([nobodys]);
    rig.work();
    await rig.published();
    expect(await rig.ask('SELECT email, external_user_id, visitor_id FROM orders')).toEqual({
      email: '',
      external_user_id: '',
      visitor_id: '00000000-0000-0000-0000-000000000000',
    });
  });

  rigTest('stores all of a record that holds more than a letter', async ({ rig }) => {
    const { pool } = rig.stores;
    const stream = await rig.stream('ingest-0');
    const visits = Array.from({ length: 1_500 }, (_, i) => ({
      ...click({ workspace: rig.workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + i }),
      referer: `https://example.com/${'r'.repeat(1_500)}`,
    }));
    for (let from = 0; from < visits.length; from += 100) stream.append(visits.slice(from, from + 100));
    const { rows } = await pool.query('DELETE FROM ingest_streams RETURNING *');
    const into = Buffer.alloc(4 * 1024 * 1024);
    /** Batches as Kafka gives them: merged by the shipper. */
    const records: EventLogReader = {
      partitions: () => rig.reader.partitions(),
      start: (partition) => rig.reader.start(partition),
      end: (partition) => rig.reader.end(partition),
      requestHeartbeats: () => rig.reader.requestHeartbeats(),
      truncate: (partition, offset) => rig.reader.truncate(partition, offset),
      close: () => rig.reader.close(),
      async read(partition, offset, options) {
        const read = await rig.reader.read(partition, offset, options);
        return { ...read, batches: [...mergeBatches(read.batches, into)] };
      },
    };
    rig.work({ reader: records });
    const end = await rig.reader.end('ingest-0');
    const read = () => pool.query('SELECT FROM log_lanes WHERE next_offset >= $1', [end]);
    await expect.poll(read).toMatchObject({ rowCount: 1 });
    await registerAgain(rig, rows);
    expect(await replayDeadLetters(dependencies(rig))).toMatchObject({ left: 0 });
    expect(await rig.stored()).toEqual({ rows: 1_500, distinct: 1_500 });
  });
});
