import { Readable } from 'node:stream';
import type { ExecParams } from '@clickhouse/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openReaders } from '../../analytics/replicas/open-readers.ts';
import { uuidv7 } from '../../core/ids.ts';
import { MAIN_REPLICA } from '../../core/settings/replicas.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { outsideTransaction } from '../../sql/database/nested-connections.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import {
  type AttributionRig,
  createAttributionRig,
  DAY,
  NOBODY,
  NOW,
} from '../../test/support/attribution-rig.ts';
import { attribute } from './attribute.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
});
beforeEach(() => rig.newWorkspace());
afterAll(() => rig.close());

/** Simulates a worker that is killed after it sent its shares. Returns a function that lets them arrive. */
async function sentAndKilled(): Promise<() => Promise<void>> {
  let sent: (() => Promise<void>) | undefined;
  const exec = async ({ values, ...insert }: ExecParams & { values: Readable }) => {
    const block: Buffer[] = [];
    for await (const piece of values) block.push(piece);
    sent = async () => {
      const { stream } = await rig.stores.clickhouse.exec({ ...insert, values: Readable.from(block) });
      for await (const _ of stream);
    };
    throw new Error('killed');
  };
  const clickhouse = Object.create(rig.stores.clickhouse, { exec: { value: exec } });
  const replicas = [{ name: 'main', clickhouse }];
  await expect(attribute({ ...rig.dependencies, replicas }, 'orders')).rejects.toThrow('killed');
  if (!sent) throw new Error('nothing was sent');
  return sent;
}

/** An order a day ago, shared by two links with a click four days ago and two. */
async function sharedOrder() {
  const [visitor, one, two] = [uuidv7(), uuidv7(), uuidv7()];
  await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'linear' });
  await rig.click({ visitor, link: one, ts: NOW - 4 * DAY });
  await rig.click({ visitor, link: two, ts: NOW - 2 * DAY });
  return { visitor, one, two, orderId: await rig.order({ ts: NOW - DAY, visitor }) };
}

describe('shares of an order that is attributed again', () => {
  it('replaces the shares when a better report of the order comes', async () => {
    const { orderId, visitor, one } = await sharedOrder();
    expect(await rig.credits(orderId)).toHaveLength(2);
    await rig.order({ orderId, ts: NOW - 3 * DAY, visitor, source: 'server', amount: 700 });
    expect((await rig.credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[one, 700]]);
  });

  it("keeps the clicks of the pixel's visitor when a server that names none reports the order, whichever is first", async () => {
    const [visitor, link] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link, ts: NOW - 2 * DAY });
    const after = await rig.order({ ts: NOW - DAY, visitor, amount: 500 });
    const before = await rig.order({ ts: NOW - DAY, source: 'server', amount: 700 });
    expect((await rig.credits(after)).map((row) => [row.link_id, row.amount])).toEqual([[link, 500]]);
    expect((await rig.credits(before)).map((row) => [row.link_id, row.amount])).toEqual([[NOBODY, 700]]);
    await rig.order({ orderId: after, ts: NOW - DAY + 1, source: 'server', amount: 700 });
    await rig.order({ orderId: before, ts: NOW - DAY + 1, visitor, amount: 500 });
    for (const orderId of [after, before]) {
      expect((await rig.credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[link, 700]]);
    }
    // The new report of the server counts, and the order keeps its visitor.
    await rig.order({ orderId: after, ts: NOW - 1.5 * DAY, source: 'server', amount: 900 });
    expect((await rig.credits(after)).map((row) => [row.link_id, row.amount])).toEqual([[link, 900]]);
  });

  it('replaces shares that a restored database does not know', async () => {
    const { orderId, visitor, one, two } = await sharedOrder();
    expect(await rig.credits(orderId)).toHaveLength(2);
    await rig.hide(one);
    await rig.stores.pool.query('DELETE FROM order_publications');
    await rig.stores.pool.query('DELETE FROM orders WHERE order_id = $1', [orderId]);
    await rig.order({ orderId, ts: NOW - DAY, visitor });
    expect((await rig.credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[two, 1_000]]);
  });

  it('replaces shares that a killed worker has sent and that arrive last', async () => {
    const { orderId, visitor, one } = await sharedOrder();
    const first = await sentAndKilled();
    await rig.order({ orderId, ts: NOW - 3 * DAY, visitor, source: 'server', amount: 700 });
    const second = await sentAndKilled();
    await rig.hide(one);
    expect(await rig.credits(orderId)).toEqual([
      { link_id: NOBODY, channel: '', amount: 700, share: 1, first_channel: '' },
    ]);
    await rig.order({ orderId, ts: NOW - 3.5 * DAY, visitor, source: 'server', amount: 800 });
    const third = await sentAndKilled();
    expect((await rig.credits(orderId)).map((row) => row.amount)).toEqual([800]);
    for (const arrive of [third, second, first]) await arrive();
    expect((await rig.credits(orderId)).map((row) => row.amount)).toEqual([800]);
  });

  it('leaves an order for the next batch that is reported again while it is attributed', async () => {
    const visitor = uuidv7();
    const link = uuidv7();
    await rig.click({ visitor, link, ts: NOW - 4 * DAY });
    const [again, other] = [
      await rig.order({ ts: NOW - DAY, visitor }),
      await rig.order({ ts: NOW - DAY, visitor }),
    ];
    let reported = false;
    const queries = Object.create(rig.stores.clickhouse.queries, {
      rows: {
        value: async (...given: Parameters<typeof rig.stores.clickhouse.queries.rows>) => {
          if (!reported)
            await outsideTransaction(() =>
              rig.order({ orderId: again, ts: NOW - 2 * DAY, visitor, source: 'server', amount: 700 }),
            );
          reported = true;
          return rig.stores.clickhouse.queries.rows(...given);
        },
      },
    });
    const clickhouse = Object.create(rig.stores.clickhouse, { queries: { value: queries } });
    const { pool } = rig.stores;
    const readers = openReaders(pool, [{ name: MAIN_REPLICA, clickhouse }], silentLogger());
    await attribute({ ...rig.dependencies, readers }, 'orders');
    const stored = `SELECT order_id, toUInt32(amount_minor) AS amount FROM attributed_shares
      WHERE workspace_id = {workspace:UUID}`;
    const rows = async () => {
      const params = { workspace: rig.workspaceId };
      return (
        await rig.stores.clickhouse.query({ query: stored, query_params: params, format: 'JSONEachRow' })
      ).json();
    };
    expect(await rows()).toEqual([{ order_id: other, amount: 1_000 }]);
    expect((await rig.credits(again)).map((row) => row.amount)).toEqual([700]);
    expect(await rows()).toHaveLength(2);
  });

  it('removes the parts that a previous attempt wrote beyond those of this one', async () => {
    const { orderId, one, two } = await sharedOrder();
    const before = await sentAndKilled();
    await rig.hide(two);
    await rig.order({ ts: NOW - DAY }); // another batch, which ClickHouse does not deduplicate against the one that was sent
    expect((await rig.credits(orderId)).map((row) => [row.link_id, row.amount])).toEqual([[one, 1_000]]);
    await before();
    expect(await rig.credits(orderId)).toHaveLength(1);
  });

  it('does not write shares again that were stored before a crash', async () => {
    const visitor = uuidv7();
    const link = uuidv7();
    await rig.click({ visitor, link, ts: NOW - 3 * DAY });
    const orderId = await rig.order({ ts: NOW - DAY, visitor });
    await rig.credits(orderId);
    await rig.stores.pool.query('UPDATE orders SET attributed_version = NULL WHERE order_id = $1', [orderId]);
    await rig.click({ visitor, link: uuidv7(), ts: NOW - 2 * DAY });
    expect((await rig.credits(orderId)).map((row) => row.link_id)).toEqual([link]);
    const { rows } = await rig.stores.pool.query(
      'SELECT attributed_version = version AS done FROM orders WHERE order_id = $1',
      [orderId],
    );
    expect(rows).toEqual([{ done: true }]);
  });
});
