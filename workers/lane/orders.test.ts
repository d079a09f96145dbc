import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OrderEvent } from '../../core/events/types.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { claimPublications, dropPublications } from '../../sql/orders/reported-orders.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { publishOrders } from '../referrals/order-publication.ts';
import { order } from '../test-support/events.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
});
afterEach(() => rig.close());

/** Delivers the reports one after the other; answers what Postgres and ClickHouse say the order is. */
async function delivered(...reports: OrderEvent[]) {
  const stream = await rig.stream('ingest-0');
  rig.work();
  for (const report of reports) {
    stream.append([report]);
    await rig.settled(stream);
  }
  const { rows } = await rig.stores.pool.query<{ amount: number; source: string; version: string }>(
    'SELECT amount_minor AS amount, source, version FROM orders',
  );
  const stored = await rig.ask<{ amount: string; version: string }>(
    'SELECT amount_minor AS amount, version FROM orders FINAL',
  );
  const [record] = rows;
  expect(rows).toHaveLength(1);
  expect({ amount: Number(stored.amount), version: stored.version }).toEqual({
    amount: record?.amount,
    version: record?.version,
  });
  return { amount: record?.amount, source: record?.source };
}

function report(ts: number, source: 'pixel' | 'server', amountMinor: number): OrderEvent {
  return order({ workspace: rig.workspace, orderId: 'o-1', ts: NOW + ts, source, amountMinor });
}

describe('of several reports of one order', () => {
  it("a server's replaces the pixel's", async () => {
    expect(await delivered(report(0, 'pixel', 100), report(5, 'server', 200))).toEqual({
      amount: 200,
      source: 'server',
    });
  });

  it("the pixel's never replaces a server's", async () => {
    expect(await delivered(report(5, 'server', 200), report(9, 'pixel', 100))).toEqual({
      amount: 200,
      source: 'server',
    });
  });

  it('the earliest of a kind stays', async () => {
    const reports = [report(5, 'pixel', 100), report(7, 'pixel', 300), report(9, 'pixel', 400)];
    expect(await delivered(...reports)).toEqual({ amount: 100, source: 'pixel' });
  });

  describe("a server's that names no visitor", () => {
    const visitor = uuidv7();
    const byPixel = (ts: number) => ({ ...report(ts, 'pixel', 100), visitorId: uuidToBytes(visitor) });
    const byServer = (ts: number) => ({ ...report(ts, 'server', 200), visitorId: null });

    /** What both stores say once the orders that ClickHouse lacks have been brought there. */
    async function published() {
      const { pool, clickhouse } = rig.stores;
      await publishOrders({ pool, clickhouse });
      const { rows } = await pool.query(
        'SELECT amount_minor::int AS amount, visitor_id, pixel_visitor_id, version FROM orders',
      );
      const stored = await rig.ask<{ amount: number; visitor_id: string; version: string }>(
        'SELECT toInt32(amount_minor) AS amount, visitor_id, toString(version) AS version FROM orders FINAL',
      );
      const queued = await pool.query('SELECT FROM order_publications');
      expect(queued.rowCount).toBe(0);
      expect(rows).toEqual([
        {
          amount: stored.amount,
          visitor_id: null,
          pixel_visitor_id: stored.visitor_id,
          version: stored.version,
        },
      ]);
      return { amount: stored.amount, visitor: stored.visitor_id };
    }

    async function deliver(...batches: OrderEvent[][]): Promise<void> {
      const stream = await rig.stream('ingest-0');
      rig.work();
      for (const batch of batches) {
        stream.append(batch);
        await rig.settled(stream);
      }
    }

    it.each([
      ['behind', () => [[byPixel(0)], [byServer(5)]]],
      ['before', () => [[byServer(0)], [byPixel(5)]]],
      ['beside', () => [[byServer(0), byPixel(5)]]],
      [
        'behind one that names none either',
        () => [[{ ...byPixel(0), visitorId: null }, byPixel(3)], [byServer(5)]],
      ],
      [
        'beside one that names none either',
        () => [[{ ...byPixel(0), visitorId: null }], [byPixel(3), byServer(5)]],
      ],
      ['between others', () => [[byPixel(9), byServer(9)], [byServer(3)], [byPixel(7), byServer(5)]]],
    ])("has the pixel's: %s it", async (_, batches) => {
      await deliver(...batches());
      expect(await published()).toEqual({ amount: 200, visitor });
    });

    it('is published again when it has changed while it was published', async () => {
      const { pool } = rig.stores;
      await deliver([byServer(0)], [byPixel(5)]);
      await inTransaction(pool, async (tx) => {
        const claimed = await claimPublications(tx, 10);
        expect(claimed).toMatchObject([{ visitor_id: visitor }]);
        // Meanwhile an earlier report of the server comes in.
        await deliver([byServer(-5)]);
        await dropPublications(tx, claimed);
      });
      expect(await published()).toEqual({ amount: 200, visitor });
    });
  });

  it('the first seen fixes the attribution model, whatever the workspace chooses later', async () => {
    const { pool } = rig.stores;
    await updateWorkspace(pool, rig.workspace, { attribution_model: 'linear', attribution_window: 7 });
    await delivered(report(0, 'pixel', 100));
    await updateWorkspace(pool, rig.workspace, { attribution_model: 'first_click' });
    const { rows } = await pool.query(
      'SELECT attribution_model AS model, attribution_window AS window FROM orders',
    );
    expect(rows).toEqual([{ model: 'linear', window: 7 }]);
  });
});
