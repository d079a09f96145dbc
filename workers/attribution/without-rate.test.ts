import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { attributeAnew } from '../../sql/orders/orders-without-rate.ts';
import { setRate } from '../../sql/workspaces/currency-rates.ts';
import {
  type AttributionRig,
  createAttributionRig,
  DAY,
  NOW,
  type Reported,
} from '../../test/support/attribution-rig.ts';
import { attribute } from './attribute.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
});
beforeEach(async () => {
  await rig.stores.pool.query('DELETE FROM currency_rates');
  await rig.newWorkspace();
});
afterAll(() => rig.close());

const amounts = async (orderId: string) => (await rig.credits(orderId)).map(({ amount }) => amount);
const kronor = (given: Partial<Reported> = {}) =>
  rig.order({ ts: NOW - DAY, amount: 1_000, currency: 'sek', ...given });

/** Sets a rate as `hoplog rate set` does. @returns the number of orders attributed again */
async function set(currency: string, base: string, rate: number): Promise<number> {
  await setRate(rig.stores.pool, { currency, base, rate });
  return attributeAnew(rig.stores.pool, currency, base);
}

/** How many sessions wait for a lock of this kind. */
async function waiting(kind: 'advisory' | 'transactionid'): Promise<number> {
  const { rows } = await rig.stores.pool.query<{ waiting: number }>(
    `SELECT count(*) AS waiting FROM pg_locks WHERE NOT granted AND locktype = $1 AND pid IN
       (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`,
    [kind],
  );
  return rows[0]?.waiting ?? 0;
}

describe('orders whose currency had no rate', () => {
  it('have their revenue, where their clicks led, once one is set', async () => {
    const [visitor, link] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link, ts: NOW - 2 * DAY });
    const order = await kronor({ visitor });
    expect(await amounts(order)).toEqual([0]);
    expect(await set('sek', 'eur', 0.09)).toBe(0);
    expect(await amounts(order)).toEqual([0]);
    expect(await set('sek', 'usd', 0.1)).toBe(1);
    expect(await rig.credits(order)).toMatchObject([{ link_id: link, amount: 100 }]);
  });

  it('are converted once: a later rate changes nothing, nor what had one', async () => {
    const before = await kronor();
    expect(await amounts(before)).toEqual([0]);
    expect(await set('sek', 'usd', 0.1)).toBe(1);
    const after = await kronor();
    expect([await amounts(before), await amounts(after)]).toEqual([[100], [100]]);
    expect(await set('sek', 'usd', 0.2)).toBe(0);
    expect([await amounts(before), await amounts(after)]).toEqual([[100], [100]]);
  });

  it('still give way to a better report, and take the visitor of the pixel’s', async () => {
    const [visitor, link] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link, ts: NOW - 2 * DAY });
    const order = await kronor({ source: 'server' });
    expect(await amounts(order)).toEqual([0]);
    expect(await set('sek', 'usd', 0.1)).toBe(1);
    await kronor({ orderId: order, ts: NOW - DAY + 1, visitor });
    expect(await rig.credits(order)).toMatchObject([{ link_id: link, amount: 100 }]);
    await kronor({ orderId: order, ts: NOW - 1.5 * DAY, source: 'server', amount: 2_000 });
    expect(await rig.credits(order)).toMatchObject([{ link_id: link, amount: 200 }]);
  });

  it('are not missed when the rate is set while they are being attributed', async () => {
    const { pool } = rig.stores;
    const order = await kronor();
    const holder = await pool.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM orders WHERE order_id = $1 FOR UPDATE', [order]);
      const attributed = attribute(rig.dependencies, 'orders');
      await expect.poll(() => waiting('transactionid')).toBe(1);
      const anew = set('sek', 'usd', 0.1);
      // The new rate waits for the attribution; without the wait it would be done by now.
      await Promise.race([anew, expect.poll(() => waiting('advisory')).toBe(1)]);
      await holder.query('COMMIT');
      await attributed;
      expect(await anew).toBe(1);
    } finally {
      holder.release();
    }
    expect(await amounts(order)).toEqual([100]);
  });

  it('are passed over while somebody holds them, and not forgotten', async () => {
    const { pool } = rig.stores;
    const [held, free] = [await kronor(), await kronor()];
    expect([await amounts(held), await amounts(free)]).toEqual([[0], [0]]);
    const holder = await pool.connect();
    let anew: Promise<number>;
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM orders WHERE order_id = $1 FOR UPDATE', [held]);
      anew = set('sek', 'usd', 0.1);
      await expect.poll(() => amounts(free)).toEqual([100]);
      await holder.query('COMMIT');
    } finally {
      holder.release();
    }
    expect(await anew).toBe(2);
    expect(await amounts(held)).toEqual([100]);
  });
});
