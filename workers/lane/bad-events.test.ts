import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { unreplayedDeadLetters } from '../../sql/event-log/dead-letters.ts';
import { enrichedClick } from '../../test/support/enriched-click.ts';
import { createRig, metric, type Rig } from '../../test/support/worker-rig.ts';
import { click, identify, order } from '../test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
});
afterEach(() => rig.close());

function clicks(count: number, from: number, channel = 'twitter') {
  const { workspace } = rig;
  return Array.from({ length: count }, (_, i) =>
    click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: from + i, channel }),
  );
}

async function reasons(): Promise<string[]> {
  return (await unreplayedDeadLetters(rig.stores.pool, 1_000)).map(({ reason }) => reason);
}

describe('what cannot be stored', () => {
  it('goes to the dead letters and leaves its neighbors alone', async () => {
    const stream = await rig.stream('ingest-0');
    const unknown = { raw: Buffer.from([99, 1, 2, 3]), ts: NOW + 50 };
    stream.append([...clicks(5, NOW), unknown, ...clicks(5, NOW + 100)]);
    const workers = rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 10, distinct: 10 });
    const [letter, ...others] = await unreplayedDeadLetters(rig.stores.pool, 10);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ streamId: stream.streamId, sequence: 5n, partition: 'ingest-0' });
    expect(letter?.reason).toMatch(/^undecodable: /);
    expect(Buffer.from(letter?.payload ?? [])).toEqual(Buffer.from([4, 0, 0, 0, 99, 1, 2, 3]));
    const dead = () =>
      metric(workers.registry, 'hoplog_worker_dead_letters_total', { reason: 'undecodable' });
    // Counted after the commit.
    await expect.poll(dead).toBe(1);
  });

  it('is a damaged piece of the log as well', async () => {
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(3, NOW));
    stream.damage(Buffer.alloc(200, 0x5a));
    stream.append(clicks(4, NOW + 100));
    rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 7, distinct: 7 });
    const [letter, ...others] = await unreplayedDeadLetters(rig.stores.pool, 10);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ streamId: null, sequence: null });
    expect(letter?.reason).toMatch(/^log_damage: /);
    expect(letter?.payload).toHaveLength(200);
  });

  it('is an event that enriching fails on', async () => {
    const stream = await rig.stream('ingest-0');
    stream.append([...clicks(2, NOW), ...clicks(1, NOW + 10, 'tiktok'), ...clicks(2, NOW + 20)]);
    rig.work({
      enricher: {
        enrichClick(event) {
          if (event.channel === 'tiktok') throw new Error('no such parser');
          return enrichedClick({ channel: event.channel });
        },
      },
    });
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 4, distinct: 4 });
    expect(await reasons()).toEqual(['enrich_failed: Error: no such parser']);
  });

  it('is a report with a text that PostgreSQL can not hold, whichever program wrote it', async () => {
    const { workspace } = rig;
    const stream = await rig.stream('ingest-0');
    const sale = (orderId: string, ts: number, more = {}) => order({ workspace, orderId, ts, ...more });
    stream.append([
      sale('first', NOW),
      sale('a\0b', NOW + 1),
      sale('user', NOW + 2, { user: 'u\0' }),
      sale('email', NOW + 3, { email: 'a\0@shop.example' }),
      identify({ workspace, visitor: uuidv7(), ts: NOW + 4, email: 'b\0@shop.example' }),
      identify({ workspace, visitor: uuidv7(), ts: NOW + 5, email: null, user: '\0', landedAt: [NOW] }),
      sale('last', NOW + 6),
    ]);
    rig.work();
    await rig.settled(stream);
    const { rows } = await rig.stores.pool.query('SELECT order_id FROM orders ORDER BY order_id');
    expect(rows.map(({ order_id }) => order_id)).toEqual(['first', 'last']);
    expect(await reasons()).toEqual([
      'unstorable: `order_id` must not contain the NUL character',
      'unstorable: `external_user_id` must not contain the NUL character',
      'unstorable: `email` must not contain the NUL character',
      'unstorable: `email` must not contain the NUL character',
      'unstorable: `external_user_id` must not contain the NUL character',
    ]);
  });

  it('is found by halving when ClickHouse refuses rows, and the others are stored once', async () => {
    await rig.stores.clickhouse.command({
      query: `ALTER TABLE clicks ADD CONSTRAINT sound CHECK channel != 'poison'`,
    });
    const stream = await rig.stream('ingest-0');
    stream.append([...clicks(300, NOW), ...clicks(1, NOW + 400, 'poison'), ...clicks(200, NOW + 500)]);
    stream.append([...clicks(1, NOW + 800, 'poison'), ...clicks(99, NOW + 900)]);
    rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 599, distinct: 599 });
    expect(await reasons()).toEqual(Array(2).fill('refused_by_store: VIOLATED_CONSTRAINT'));
    const letters = await unreplayedDeadLetters(rig.stores.pool, 10);
    expect(letters.map(({ sequence }) => sequence)).toEqual([300n, 501n]);
  });

  it('waits when ClickHouse refuses everything, because then it is not the rows', async () => {
    await rig.stores.clickhouse.command({
      query: `ALTER TABLE clicks ADD CONSTRAINT none CHECK channel = 'none'`,
    });
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(300, NOW));
    const workers = rig.work();
    const retries = () => metric(workers.registry, 'hoplog_worker_retries_total', { step: 'find_refused' });
    await expect.poll(retries).toBeGreaterThan(0);
    expect(await reasons()).toEqual([]);
    await rig.stores.clickhouse.command({ query: 'ALTER TABLE clicks DROP CONSTRAINT none' });
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 300, distinct: 300 });
  });

  it('is not what was refused before the schema was fixed, while rows were searched for', async () => {
    const { clickhouse } = rig.stores;
    await clickhouse.command({ query: `ALTER TABLE clicks ADD CONSTRAINT none CHECK channel = 'none'` });
    let refusals = 0;
    const fixed: typeof clickhouse.exec = async (insert) => {
      try {
        return await clickhouse.exec(insert);
      } catch (error) {
        refusals += 1;
        // By now the first halves were refused, some of them single rows.
        if (refusals === 20) await clickhouse.command({ query: 'ALTER TABLE clicks DROP CONSTRAINT none' });
        throw error;
      }
    };
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(300, NOW));
    rig.work({ clickhouse: Object.assign(Object.create(clickhouse), { exec: fixed }) });
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 300, distinct: 300 });
    expect(await reasons()).toEqual([]);
  });

  it('is an order that PostgreSQL refuses', async () => {
    const { workspace } = rig;
    await rig.stores.admin.query(`ALTER TABLE orders ADD CONSTRAINT sound CHECK (order_id <> 'bad-one')`);
    const stream = await rig.stream('ingest-0');
    stream.append([
      order({ workspace, ts: NOW, orderId: 'good-1' }),
      order({ workspace, ts: NOW + 1, orderId: 'bad-one' }),
      order({ workspace, ts: NOW + 2, orderId: 'good-2' }),
    ]);
    rig.work();
    await rig.settled(stream);
    const { rows } = await rig.stores.pool.query('SELECT order_id FROM orders ORDER BY ts');
    expect(rows).toEqual([{ order_id: 'good-1' }, { order_id: 'good-2' }]);
    expect(await reasons()).toEqual([expect.stringMatching(/^refused_by_records: /)]);
  });

  it('is every event of an unregistered stream except its heartbeats', async () => {
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(4, NOW));
    await rig.stores.pool.query('DELETE FROM ingest_streams');
    const known = await rig.stream('ingest-1');
    known.append(clicks(2, NOW + 10));
    rig.work();
    await rig.settled(known);
    await expect.poll(reasons).toEqual(['unknown_stream']);
    expect(await rig.stored()).toEqual({ rows: 2, distinct: 2 });
  });
});

describe('sequences', () => {
  it('that were delivered before are dropped, and a gap is counted', async () => {
    const stream = await rig.stream('ingest-0');
    stream.append(clicks(10, NOW));
    const again = clicks(15, NOW + 100);
    stream.append(again, 5n); // 5 to 9 once more, 10 to 19 new
    stream.append(clicks(5, NOW + 200), 25n); // 20 to 24 are missing
    stream.append(clicks(5, NOW + 300), 1n << 40n); // a new epoch
    const workers = rig.work();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 30, distinct: 30 });
    // Counted after the commit.
    const counted = (name: string) => metric(workers.registry, `hoplog_worker_${name}_total`);
    await expect.poll(() => counted('sequence_gaps')).toBe(1);
    await expect.poll(() => counted('duplicates_dropped')).toBe(5);
  });
});
