import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { RegisteredStream } from '../../sql/event-log/streams.ts';
import { type OwnClickHouse, ownClickHouse } from '../../test/support/own-clickhouse.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { click, heartbeat, identify, order } from '../test-support/events.ts';
import type { LogWriter } from '../test-support/log-writer.ts';
import { addReplicaFromLog } from '../test-support/replica-from-log.ts';
import type { LaneState } from './lane.ts';

const NOW = Date.UTC(2026, 10, 30, 23, 59, 59) * 1000;
const STATES: LaneState[] = ['prepared', 'intended', 'block_inserted', 'inserted', 'advanced'];

let main: OwnClickHouse;
let second: OwnClickHouse;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
});
afterAll(() => Promise.all([main.close(), second.close()]));

let rig: Rig;
let stream: LogWriter & RegisteredStream;
let clicks = 0;
beforeEach(async () => {
  rig = await createRig();
  stream = await rig.stream('ingest-0');
  clicks = 0;
  for (const { clickhouse } of [main, second]) {
    for (const table of ['clicks', 'identifies'])
      await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
  await addReplicaFromLog(rig.stores.pool, 'second');
});
afterEach(() => rig.close());

/** Starts workers that feed both replicas, through these clients. */
function work(
  clients: Partial<Record<'main' | 'second', ClickHouseClient>> = {},
  changes: Parameters<Rig['work']>[0] = {},
) {
  const replicas = [
    { name: 'main', clickhouse: clients.main ?? main.clickhouse },
    { name: 'second', clickhouse: clients.second ?? second.clickhouse },
  ];
  return rig.work({ clickhouse: main.clickhouse, replicas, ...changes });
}

/** Appends clicks on both sides of a month's end, in batches, an identify, and an order. */
function append(batches = 10): void {
  const { workspace } = rig;
  for (let batch = 0; batch < batches; batch++) {
    const events = Array.from({ length: 20 }, () =>
      click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + clicks++ * 10_000 }),
    );
    const ts = NOW + clicks++ * 10_000;
    stream.append([
      ...events,
      identify({ workspace, visitor: uuidv7(), ts, email: `buyer-${clicks}@example.com` }),
      order({ workspace, ts: ts + 1, orderId: `order-${clicks}` }),
      heartbeat(ts + 2),
    ]);
  }
}

async function behind(): Promise<{ replica: string; is_lost: boolean }[]> {
  const { rows } = await rig.stores.pool.query<{ replica: string; is_lost: boolean }>(
    'SELECT replica, lost_at IS NOT NULL AS is_lost FROM replica_lanes ORDER BY replica',
  );
  return rows;
}

/** Waits until both replicas have every event, and compares their tables. */
async function expectEqual(): Promise<void> {
  await rig.settled(stream);
  await until('both replicas are in step', behind, (rows) => rows.length === 0);
  const batches = clicks / 21;
  const [clicksOfMain, identifiesOfMain] = [await main.hash('clicks'), await main.hash('identifies')];
  expect(clicksOfMain.rows).toBe(batches * 20);
  expect(identifiesOfMain.rows).toBe(batches);
  expect(await second.hash('clicks')).toEqual(clicksOfMain);
  expect(await second.hash('identifies')).toEqual(identifiesOfMain);
  const { rows } = await rig.stores.pool.query('SELECT count(*)::int AS orders FROM orders');
  expect(rows).toEqual([{ orders: batches }]);
}

/** A client whose inserts wait from `hold` to `release`, unless they are given up. */
function holding(clickhouse: ClickHouseClient) {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const client = new Proxy(clickhouse, {
    get(target, property) {
      if (property !== 'exec') return Reflect.get(target, property);
      return async (...given: Parameters<typeof clickhouse.exec>) => {
        const { abort_signal: signal } = given[0];
        signal?.throwIfAborted();
        const givenUp = signal && once(signal, 'abort').then(() => signal.throwIfAborted());
        await Promise.race([gate.promise, givenUp ?? gate.promise]);
        return target.exec(...given);
      };
    },
  });
  return {
    client,
    hold() {
      gate = Promise.withResolvers();
    },
    release: () => gate.resolve(),
  };
}

describe('two replicas of ClickHouse', () => {
  it('have the same rows, and records are stored once', async () => {
    work();
    append();
    await expectEqual();
    append();
    await expectEqual();
  });

  it.for(['main', 'second'] as const)(
    'are equal again after a kill -9 of %s, which holds nobody',
    async (name) => {
      const server = name === 'main' ? main : second;
      work();
      append();
      await expectEqual();
      await server.kill();
      append();
      await rig.settled(stream);
      expect(await behind()).toEqual([{ replica: name, is_lost: false }]);
      append();
      await rig.settled(stream);
      await server.start();
      append();
      await expectEqual();
    },
  );

  it('are equal after both were killed, one after the other', async () => {
    work();
    append();
    await expectEqual();
    await second.kill();
    append();
    await rig.settled(stream);
    await main.kill();
    append();
    await second.start();
    await rig.settled(stream);
    expect(await behind()).toEqual([{ replica: 'main', is_lost: false }]);
    await main.start();
    await expectEqual();
  });

  it('are equal after one that does not respond continued late', async () => {
    const slow = holding(second.clickhouse);
    work({ second: slow.client });
    append();
    await expectEqual();
    slow.hold();
    append();
    await rig.settled(stream);
    expect(await behind()).toEqual([{ replica: 'second', is_lost: false }]);
    slow.release();
    await expectEqual();
  });

  it('are equal when one stores an insert and then answers with an error', async () => {
    let errors = 0;
    const failing = new Proxy(second.clickhouse, {
      get(target, property) {
        if (property !== 'exec') return Reflect.get(target, property);
        return async (...given: Parameters<ClickHouseClient['exec']>) => {
          const response = await target.exec(...given);
          if (errors++ % 2 === 1) return response;
          for await (const _ of response.stream);
          throw new Error('socket hang up');
        };
      },
    });
    work({ second: failing });
    append();
    await expectEqual();
    append();
    await expectEqual();
    expect(errors).toBeGreaterThan(2);
  });

  it('are equal after a worker that knew only one of them', async () => {
    const one = rig.work({ clickhouse: main.clickhouse });
    append();
    await rig.settled(stream);
    await one.stop();
    expect(await behind()).toEqual([{ replica: 'second', is_lost: false }]);
    work();
    append();
    await expectEqual();
  });

  it('stay equal while one waits whose events the log no longer holds', async () => {
    const before = work();
    append();
    await expectEqual();
    await before.stop();
    await addReplicaFromLog(rig.stores.pool, 'third');
    const start = stream.end();
    const reader = new Proxy(rig.reader, {
      get(target, property) {
        if (property === 'start') return async () => start;
        return Reflect.get(target, property).bind(target);
      },
    });
    const replicas = [
      { name: 'main', clickhouse: main.clickhouse },
      { name: 'second', clickhouse: second.clickhouse },
      { name: 'third', clickhouse: second.clickhouse },
    ];
    rig.work({ clickhouse: main.clickhouse, replicas, reader });
    const lost = [{ replica: 'third', is_lost: true }];
    await until('the replica is marked as lost', behind, (rows) => rows[0]?.is_lost === true);
    append();
    await rig.settled(stream);
    expect(await behind()).toEqual(lost);
    expect((await main.hash('clicks')).rows).toBe(400);
    expect(await second.hash('clicks')).toEqual(await main.hash('clicks'));
  });

  it.for(STATES)('are equal after failures when %s, while one falls behind and catches up', async (state) => {
    const slow = holding(second.clickhouse);
    let failures = 0;
    let reached = 0;
    work(
      { second: slow.client },
      {
        onState(now) {
          if (now !== state || failures === 3 || reached++ % 2 === 1) return;
          failures += 1;
          throw new Error(`failure injected when ${state}`);
        },
      },
    );
    append(2);
    slow.hold();
    for (let round = 0; round < 4; round++) {
      append(2);
      await rig.settled(stream);
      if (round === 2) slow.release();
    }
    await expectEqual();
    expect(failures).toBeGreaterThan(0);
  });
});
