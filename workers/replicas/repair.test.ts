import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { readReplicaMarks } from '../../sql/event-log/replica-marks.ts';
import type { RegisteredStream } from '../../sql/event-log/streams.ts';
import { type OwnClickHouse, ownClickHouse } from '../../test/support/own-clickhouse.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { keepRolledUp, rollUpImports } from '../rollups/keep-rolled-up.ts';
import { heartbeat, order } from '../test-support/events.ts';
import type { LogWriter } from '../test-support/log-writer.ts';
import { addReplicaFromLog } from '../test-support/replica-from-log.ts';
import { createRepair } from './repair.ts';

let main: OwnClickHouse;
let second: OwnClickHouse;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
});
afterAll(() => Promise.all([main.close(), second.close()]));

let rig: Rig;
let stream: LogWriter & RegisteredStream;
let orders = 0;
beforeEach(async () => {
  rig = await createRig();
  stream = await rig.stream('ingest-0');
  orders = 0;
  for (const { clickhouse } of [main, second]) await clickhouse.command({ query: 'TRUNCATE TABLE orders' });
  await addReplicaFromLog(rig.stores.pool, 'second');
  await rig.stores.pool.query('UPDATE replicas SET is_readable = true');
});
afterEach(() => rig.close());

function work(clients: Partial<Record<'main' | 'second', ClickHouseClient>> = {}) {
  const replicas = [
    { name: 'main', clickhouse: clients.main ?? main.clickhouse },
    { name: 'second', clickhouse: clients.second ?? second.clickhouse },
  ];
  return rig.work({ clickhouse: main.clickhouse, replicas });
}

/** Reports new orders, and changes the amount of each old one. */
async function report(): Promise<void> {
  const { workspace } = rig;
  const ts = Date.now() * 1_000;
  const changed = Array.from({ length: orders }, (_, n) =>
    order({ workspace, ts: ts + n, orderId: `order-${n}`, source: 'server', amountMinor: 500 + orders }),
  );
  const added = Array.from({ length: 20 }, () =>
    order({ workspace, ts: ts + orders, orderId: `order-${orders++}`, source: 'pixel' }),
  );
  stream.append([...changed, ...added, heartbeat(ts + orders)]);
  await rig.settled(stream);
  await rig.published();
}

const readable = async () =>
  [...(await readReplicaMarks(rig.stores.pool, ['main', 'second'])).of.keys()].sort();

async function expectEqual(): Promise<void> {
  await until('both may be read', readable, (names) => names.length === 2);
  const stored = await main.hash('orders FINAL');
  expect(stored.rows).toBe(orders);
  expect(await second.hash('orders FINAL')).toEqual(stored);
}

describe('orders of two replicas', () => {
  it.for(['main', 'second'] as const)(
    'are equal again after a kill -9 of %s, which is not read until then',
    async (name) => {
      const server = name === 'main' ? main : second;
      work();
      await report();
      await expectEqual();
      await server.kill();
      await report();
      expect(await readable()).toEqual([name === 'main' ? 'second' : 'main']);
      await report();
      await server.start();
      await expectEqual();
      await report();
      await expectEqual();
    },
  );

  it('are equal after each was away while the other one got orders', async () => {
    work();
    await second.kill();
    await report();
    expect(await readable()).toEqual(['main']);
    await second.start();
    await expectEqual();
    await main.kill();
    await report();
    expect(await readable()).toEqual(['second']);
    await main.start();
    await expectEqual();
  });

  it('are equal when one stores an insert and then answers with an error', async () => {
    let errors = 0;
    const failing = new Proxy(second.clickhouse, {
      get(target, property) {
        if (property !== 'exec') return Reflect.get(target, property);
        return async (...given: Parameters<ClickHouseClient['exec']>) => {
          const response = await target.exec(...given);
          if (!given[0].query.includes('orders') || errors++ % 2 === 1) return response;
          for await (const _ of response.stream);
          throw new Error('socket hang up');
        };
      },
    });
    work({ second: failing });
    await report();
    await expectEqual();
    await report();
    await expectEqual();
    expect(errors).toBeGreaterThan(2);
  });

  it('reach the one that takes them when the other one refuses them, and that one once it takes them too', async () => {
    work();
    await report();
    await expectEqual();
    const alter = (query: string) => second.clickhouse.command({ query: `ALTER TABLE orders ${query}` });
    await alter('ADD CONSTRAINT cheap CHECK amount_minor < 600');
    await report();
    expect(await readable()).toEqual(['main']);
    expect((await main.hash('orders FINAL')).rows).toBe(orders);
    await alter('DROP CONSTRAINT cheap');
    await expectEqual();
  });

  it('are equal after a worker that knew only one of them', async () => {
    const one = rig.work({ clickhouse: main.clickhouse });
    await report();
    await one.stop();
    expect(await readable()).toEqual(['main']);
    work();
    await expectEqual();
  });
});

describe('roll-ups of two replicas', () => {
  const DAY = Date.UTC(2026, 9, 1);
  const rolledUp = async ({ clickhouse }: OwnClickHouse) => {
    const result = await clickhouse.query({
      query: `SELECT toString(start) AS start, clicks FROM rolled_up_periods FINAL WHERE period = 'day' ORDER BY start`,
      format: 'JSONEachRow',
    });
    return (await result.json<{ start: string; clicks: string }>()).map((row) => [
      row.start,
      Number(row.clicks),
    ]);
  };
  const given = () => ({
    pool: rig.stores.pool,
    replicas: [
      { name: 'main', clickhouse: main.clickhouse },
      { name: 'second', clickhouse: second.clickhouse },
    ],
    log: silentLogger(),
  });
  /** Stores a click of a day in both replicas. */
  async function click(day: number): Promise<void> {
    const row = {
      workspaceId: rig.workspace,
      tsNanos: BigInt(DAY + day * 86_400_000 + 1) * 1_000_000n,
      ...{ linkId: uuidv7(), visitorId: uuidv7() },
    };
    for (const { clickhouse } of [main, second]) await storeClicks({ clickhouse }, [row]);
  }
  const passTime = (day: number) =>
    rig.stores.pool.query('UPDATE ingest_streams SET visible_before = $1', [
      (DAY + day * 86_400_000) * 1_000,
    ]);

  it('go by the watermark of each, and one that missed imports is not read until it has them', async () => {
    const { pool } = rig.stores;
    await pool.query('DELETE FROM replica_lanes');
    await click(0);
    await passTime(1);
    await keepRolledUp(given());
    expect(await rolledUp(main)).toEqual([['2026-10-01', 1]]);
    expect(await rolledUp(second)).toEqual([['2026-10-01', 1]]);

    await click(1);
    await passTime(2);
    await pool.query(`INSERT INTO replica_lanes (replica, partition, next_offset) VALUES ('second', 'p', 0)`);
    await pool.query(
      `INSERT INTO replica_streams SELECT 'second', 'p', stream_id, -1, $1, '[]' FROM ingest_streams`,
      [(DAY + 86_400_000) * 1_000],
    );
    await keepRolledUp(given());
    expect((await rolledUp(main)).map(([start]) => start)).toEqual(['2026-10-01', '2026-10-02']);
    expect((await rolledUp(second)).map(([start]) => start)).toEqual(['2026-10-01']);

    await click(0);
    await pool.query(
      `INSERT INTO click_imports (id, workspace_id, source, roll_up_due) VALUES ($1, $2, 'csv', now())`,
      [uuidv7(), rig.workspace],
    );
    await second.kill();
    await rollUpImports(given());
    expect((await rolledUp(main))[0]).toEqual(['2026-10-01', 2]);
    expect(await readable()).toEqual(['main']);
    const repair = createRepair(given());
    await expect(repair()).rejects.toThrow();
    await second.start();
    await repair();
    expect(await rolledUp(second)).toEqual([['2026-10-01', 2]]);
    expect(await readable()).toEqual(['main', 'second']);
  });
});
