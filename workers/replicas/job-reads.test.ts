import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import type { RegisteredStream } from '../../sql/event-log/streams.ts';
import { type OwnClickHouse, ownClickHouse } from '../../test/support/own-clickhouse.ts';
import { until } from '../../test/support/until.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { click, heartbeat, order } from '../test-support/events.ts';
import type { LogWriter } from '../test-support/log-writer.ts';
import { addReplicaFromLog } from '../test-support/replica-from-log.ts';

let main: OwnClickHouse;
let second: OwnClickHouse;
beforeAll(async () => {
  [main, second] = await Promise.all([ownClickHouse(), ownClickHouse()]);
});
afterAll(() => Promise.all([main.close(), second.close()]));

let rig: Rig;
let stream: LogWriter & RegisteredStream;
/** While it is set, inserts into `second` wait for it. */
let gate: PromiseWithResolvers<void> | null = null;
let lastTs = 0;
beforeEach(async () => {
  rig = await createRig();
  stream = await rig.stream('ingest-0');
  await addReplicaFromLog(rig.stores.pool, 'second');
  await rig.stores.pool.query('UPDATE replicas SET is_readable = true');
  const held = new Proxy(second.clickhouse, {
    get(target, property) {
      if (property !== 'exec') return Reflect.get(target, property);
      return async (...given: Parameters<typeof target.exec>) => {
        await gate?.promise;
        given[0].abort_signal?.throwIfAborted();
        return target.exec(...given);
      };
    },
  });
  // Jobs read the first one that they can.
  const replicas = [
    { name: 'second', clickhouse: held },
    { name: 'main', clickhouse: main.clickhouse },
  ];
  rig.work({ clickhouse: main.clickhouse, replicas });
});
afterEach(async () => {
  gate?.resolve();
  gate = null;
  await rig.close();
});

const next = () => {
  lastTs = Math.max(lastTs + 1, Date.now() * 1_000);
  return lastTs;
};

/** Appends a click, which `before` may follow, and an order of its visitor. Returns the order's id. */
async function buy(before: () => Promise<void>): Promise<string> {
  const [visitor, orderId] = [uuidv7(), uuidv7()];
  const { workspace } = rig;
  stream.append([click({ workspace, link: uuidv7(), visitor, ts: next() }), heartbeat(next())]);
  await rig.settled(stream);
  await before();
  stream.append([order({ workspace, orderId, visitor, ts: next() }), heartbeat(next())]);
  return orderId;
}

/** Waits until an order is attributed, and returns the channels of its shares. */
async function channelsOf(orderId: string): Promise<string[]> {
  const read = async () => {
    const result = await main.clickhouse.query({
      query: `SELECT channel FROM attributed_shares FINAL WHERE order_id = {orderId:String} AND NOT replaced`,
      query_params: { orderId },
      format: 'JSONEachRow',
    });
    return (await result.json<{ channel: string }>()).map(({ channel }) => channel);
  };
  const isAttributed = async () => {
    const { rows } = await rig.stores.pool.query(
      'SELECT FROM orders WHERE order_id = $1 AND attributed_version = version',
      [orderId],
    );
    return rows.length === 1;
  };
  await until('the order is attributed', isAttributed);
  return read();
}

const behind = async () =>
  (await rig.stores.pool.query<{ replica: string }>('SELECT replica FROM replica_lanes')).rows.map(
    ({ replica }) => replica,
  );

describe('attribution with two replicas', () => {
  it('goes on with another replica after a kill -9 of the one that it reads', async () => {
    const whole = await buy(async () => undefined);
    expect(await channelsOf(whole)).toEqual(['twitter']);
    const one = await buy(() => second.kill());
    expect(await channelsOf(one)).toEqual(['twitter']);
    await second.start();
  });

  it('does not read a replica that lacks clicks before the order', async () => {
    await until('both are in step', behind, (names) => names.length === 0);
    gate = Promise.withResolvers();
    const orderId = await buy(() =>
      until('second is behind', behind, (names) => names.includes('second')).then(() => {}),
    );
    expect(await channelsOf(orderId)).toEqual(['twitter']);
    expect(await behind()).toEqual(['second']);
  });
});
