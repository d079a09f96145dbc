import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OrderEvent } from '../../core/events/types.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { type OrderReport, upsertOrders } from '../../sql/orders/orders.ts';
import { dropPublications, duePublications, holdPublications } from '../../sql/orders/publications.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { heldTransaction } from '../../test/support/held-transaction.ts';
import { createRig, metric, type Rig } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { order } from '../test-support/events.ts';
import { publishOrders } from './publish-orders.ts';

const NOW = Date.UTC(2026, 10, 20) * 1000;

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
});
afterEach(() => rig.close());

/** Delivers the reports one after the other. Returns the order, once it is equal in PostgreSQL and ClickHouse. */
async function delivered(...reports: OrderEvent[]) {
  const stream = await rig.stream('ingest-0');
  rig.work();
  for (const report of reports) {
    stream.append([report]);
    await rig.settled(stream);
  }
  await rig.published();
  const { rows } = await rig.stores.pool.query<{ amount: number; source: string; version: number }>(
    'SELECT amount_minor AS amount, source, version FROM orders',
  );
  const stored = await rig.ask<{ amount: string; version: string }>(
    'SELECT amount_minor AS amount, version FROM orders FINAL',
  );
  const [record] = rows;
  expect(rows).toHaveLength(1);
  expect({ amount: Number(stored.amount), version: Number(stored.version) }).toEqual({
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

    /** Returns the order, once it is equal in PostgreSQL and ClickHouse. */
    async function publishedOrder() {
      await rig.published();
      const { rows } = await rig.stores.pool.query(
        'SELECT amount_minor::int AS amount, visitor_id, pixel_visitor_id, version FROM orders',
      );
      const stored = await rig.ask<{ amount: number; visitor_id: string; version: string }>(
        'SELECT toInt32(amount_minor) AS amount, visitor_id, toString(version) AS version FROM orders FINAL',
      );
      expect(rows).toEqual([
        {
          amount: stored.amount,
          visitor_id: null,
          pixel_visitor_id: stored.visitor_id,
          version: Number(stored.version),
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
      expect(await publishedOrder()).toEqual({ amount: 200, visitor });
    });

    it('is published again when it changes while it is published', async () => {
      const { pool } = rig.stores;
      await deliver([byServer(0)], [byPixel(5)]);
      await rig.published();
      await heldTransaction(pool, async (tx) => {
        await holdPublications(tx);
        // The workers can't publish the order now. It is due from the start of this transaction on.
        await pool.query(
          `INSERT INTO order_publications (order_internal_id, due_at)
           SELECT internal_id, now() - interval '1 minute' FROM orders`,
        );
        const due = await duePublications(tx, 10);
        expect(due).toMatchObject([{ visitor_id: visitor, ts: NOW }]);
        // Meanwhile an earlier report of the server comes in.
        await deliver([byServer(-5)]);
        await dropPublications(tx, due);
      });
      expect(await publishedOrder()).toEqual({ amount: 200, visitor });
      expect(await rig.ask('SELECT toUnixTimestamp64Micro(ts) AS ts FROM orders FINAL')).toEqual({
        ts: String(NOW - 5),
      });
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

describe('publishOrders', () => {
  const queue = async () => (await rig.stores.pool.query('SELECT FROM order_publications')).rowCount;

  /** Stores orders in PostgreSQL, with their entries in the queue. */
  async function storeOrders(...orderIds: string[]): Promise<void> {
    const reports = orderIds.map((orderId, n): OrderReport => {
      return {
        workspaceId: rig.workspace,
        orderId,
        source: 'server',
        ts: NOW + n,
        streamOrdinal: 0,
        visitorId: null,
        email: null,
        externalUserId: null,
        amountMinor: 100,
        currency: 'usd',
      };
    });
    await upsertOrders(rig.stores.pool, reports);
  }

  function dependencies() {
    const { pool, clickhouse } = rig.stores;
    const registry = new Registry();
    const replicas = [{ name: 'main', clickhouse }];
    return { pool, replicas, registry, metrics: createWorkerMetrics(registry), log: silentLogger() };
  }

  it('writes an order that it wrote before a crash with the same version', async () => {
    // A merge would leave one row of each version.
    await rig.stores.clickhouse.command({ query: 'SYSTEM STOP MERGES orders' });
    await storeOrders('o-1', 'o-2');
    const shared = dependencies();
    const stored = rig.stores.clickhouse;
    const exec = async (...given: Parameters<typeof stored.exec>) => {
      const { stream } = await stored.exec(...given);
      for await (const _ of stream);
      throw new Error('killed');
    };
    const clickhouse = Object.create(stored, { exec: { value: exec } });
    await expect(publishOrders({ ...shared, replicas: [{ name: 'main', clickhouse }] })).rejects.toThrow(
      'killed',
    );
    expect(await queue()).toBe(2);
    // Another batch, so that ClickHouse does not deduplicate it against the earlier insert.
    await storeOrders('o-3');
    expect(await publishOrders(shared)).toBe(false);
    expect(await queue()).toBe(0);
    const counts = 'SELECT toInt32(count()) AS rows, toInt32(uniqExact(order_id, version)) AS versions';
    expect(await rig.ask(`${counts} FROM orders`)).toEqual({ rows: 5, versions: 3 });
    expect(await rig.ask(`${counts} FROM orders FINAL`)).toEqual({ rows: 3, versions: 3 });
  });

  it('sets an order aside that ClickHouse refuses, and writes the others', async () => {
    await rig.stores.clickhouse.command({
      query: `ALTER TABLE orders ADD CONSTRAINT sound CHECK order_id != 'poison'`,
    });
    await storeOrders('o-1', 'o-2', 'poison', 'o-3', 'o-4');
    const shared = dependencies();
    await publishOrders(shared);
    expect(await rig.ask('SELECT toInt32(count()) AS rows FROM orders')).toEqual({ rows: 4 });
    expect(await metric(shared.registry, 'hoplog_worker_refused_orders_total')).toBe(1);
    expect(await queue()).toBe(1);
    await rig.stores.clickhouse.command({ query: 'ALTER TABLE orders DROP CONSTRAINT sound' });
    await publishOrders(shared);
    expect(await queue(), 'not due yet').toBe(1);
    await rig.stores.pool.query('UPDATE order_publications SET due_at = now()');
    await publishOrders(shared);
    expect(await queue()).toBe(0);
    expect(await rig.ask('SELECT toInt32(count()) AS rows FROM orders')).toEqual({ rows: 5 });
  });

  it('has written the orders of a lane when the workers have stopped', async () => {
    const stream = await rig.stream('ingest-0');
    stream.append([report(0, 'pixel', 100)]);
    const workers = rig.work();
    await rig.settled(stream);
    stream.append([report(-5, 'pixel', 200)]);
    await workers.stop(120_000);
    expect(await rig.ask('SELECT toInt32(amount_minor) AS amount FROM orders FINAL')).toEqual({
      amount: 200,
    });
    expect(await queue()).toBe(0);
  });
});
