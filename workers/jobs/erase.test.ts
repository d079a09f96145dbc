import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { deliveryBody } from '../../core/webhooks/delivery.ts';
import { withJobLease } from '../../sql/database/job-leases.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import { retireStream } from '../../sql/event-log/streams.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { addDeliveries, type DeliveryState } from '../../sql/webhooks/delivery-queue.ts';
import { queueEvents, type SaleData } from '../../sql/webhooks/outbox.ts';
import { createRig, type Rig } from '../../test/support/worker-rig.ts';
import { createWorkerMetrics, type WorkerMetrics } from '../metrics.ts';
import { click, heartbeat, identify, order } from '../test-support/events.ts';
import { pendingState } from '../webhooks/outcome.ts';
import { eraseRequested } from './erase.ts';
import { publishOrders } from './publish-orders.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await createRig();
});
afterEach(() => rig.close());

async function left(): Promise<string[]> {
  const result = await rig.stores.clickhouse.query({
    query: 'SELECT channel FROM clicks ORDER BY ts SETTINGS apply_deleted_mask = 0',
    format: 'JSONEachRow',
  });
  return (await result.json<{ channel: string }>()).map(({ channel }) => channel);
}

async function open(): Promise<number | null> {
  return (await rig.stores.pool.query('SELECT FROM erasures WHERE done_at IS NULL')).rowCount;
}

/** Runs the job until no request is open. */
async function eraseAll(metrics: WorkerMetrics): Promise<void> {
  const eraseAndCount = async () => {
    await eraseRequested({ ...rig.stores, metrics });
    return open();
  };
  await expect.poll(eraseAndCount).toBe(0);
}

describe('erasures', () => {
  it('rewrite ClickHouse, and are done once the watermark has passed the request', async () => {
    const { pool } = rig.stores;
    const { workspace } = rig;
    const [erased, kept, button, link] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const other = uuidv7();
    const start = Date.now() * 1000;
    const stream = await rig.stream('ingest-0');
    stream.append([
      click({ workspace, link, visitor: erased, ts: start, channel: 'erased visitor' }),
      click({ workspace, link: button, visitor: kept, ts: start + 1, channel: 'erased link' }),
      click({ workspace, link, visitor: kept, ts: start + 2, channel: 'kept' }),
      click({ workspace: other, link, visitor: erased, ts: start + 3, channel: 'other workspace' }),
      identify({ workspace, visitor: erased, ts: start + 4, email: 'a@example.com' }),
      identify({ workspace, visitor: erased, ts: start + 5, email: null, user: 'user' }),
    ]);
    rig.work();
    await rig.settled(stream);
    expect((await pool.query('SELECT external_user_id FROM visitor_users')).rows).toEqual([
      { external_user_id: 'user' },
    ]);
    const metrics = createWorkerMetrics(new Registry());
    await requestErasure(pool, { workspaceId: workspace, kind: 'visitor', targetId: erased });
    await requestErasure(pool, { workspaceId: workspace, kind: 'link', targetId: button });
    const eraseAndRead = async () => {
      await eraseRequested({ ...rig.stores, metrics });
      return left();
    };
    const all = await left();
    // Another worker erases.
    expect(await withJobLease(pool, 'erasures', eraseAndRead)).toEqual(all);
    await expect.poll(eraseAndRead).toEqual(['kept', 'other workspace']);
    await expect.poll(() => rig.stored('identifies')).toMatchObject({ rows: 0 });
    expect((await pool.query('SELECT FROM identities')).rowCount).toBe(0);
    expect((await pool.query('SELECT FROM visitor_users')).rowCount).toBe(0);
    await eraseRequested({ ...rig.stores, metrics });
    expect(await open()).toBe(2); // an older click may not be stored yet
    stream.append([heartbeat(Date.now() * 1000 + 60_000_000)]);
    await rig.settled(stream);
    await eraseAll(metrics);
    const hidden = await rig.ask<{ link_id: string }>('SELECT link_id FROM deleted_links');
    expect(hidden).toEqual({ link_id: button });
  });

  it('remove the identity from later orders that name only what the visitor was known by', async () => {
    const { pool } = rig.stores;
    const { workspace } = rig;
    const names = { emails: ['ann@example.com'], users: ['ann'] };
    const erased = { workspaceId: workspace, kind: 'visitor', targetId: uuidv7() } as const;
    const ts = Date.now() * 1000 - 1_000_000;
    await requestErasure(pool, { ...erased, names: { ...names, users: [] } });
    await requestErasure(pool, { ...erased, names: { emails: [], users: names.users } });
    const stream = await rig.stream('ingest-0');
    const later = Date.now() * 1000 + 30_000_000;
    stream.append([
      order({ workspace, ts, orderId: 'by email', email: 'ann@example.com' }),
      order({ workspace, ts: ts + 1, orderId: 'by user', user: 'ann' }),
      order({ workspace, ts: ts + 2, orderId: 'by another', email: 'bob@example.com', user: 'bob' }),
      order({ workspace, ts: ts + 3, orderId: 'by a visitor', email: 'ann@example.com', visitor: uuidv7() }),
      order({ workspace, ts: later, orderId: 'later', email: 'ann@example.com' }),
      heartbeat(Date.now() * 1000 + 60_000_000),
    ]);
    rig.work();
    await rig.settled(stream);
    const metrics = createWorkerMetrics(new Registry());
    await eraseAll(metrics);
    const named = ['by a visitor', 'by another', 'later'];
    const { rows } = await pool.query<{ order_id: string }>(
      'SELECT order_id FROM orders WHERE email IS NOT NULL OR external_user_id IS NOT NULL ORDER BY order_id',
    );
    expect(rows.map(({ order_id: id }) => id)).toEqual(named);
    await rig.published();
    const stored = await rig.ask<{ ids: string[] }>(
      `SELECT arraySort(groupArray(order_id)) AS ids FROM orders FINAL WHERE email != '' OR external_user_id != ''`,
    );
    expect(stored.ids).toEqual(named);
    expect((await pool.query('SELECT emails, users FROM erasures')).rows).toEqual([
      { emails: [], users: [] },
    ]);
  });

  it('wait for an order that a worker is writing to ClickHouse', async () => {
    const { pool, clickhouse } = rig.stores;
    const [visitor, workspaceId] = [uuidv7(), rig.workspace];
    const registry = new Registry();
    const metrics = createWorkerMetrics(registry);
    await upsertOrders(pool, [
      {
        ...{ workspaceId, orderId: 'o-1', source: 'pixel', ts: 1, streamOrdinal: 0, visitorId: visitor },
        ...{ email: 'ann@example.com', externalUserId: null, amountMinor: 1, currency: 'usd' },
      },
    ]);
    await requestErasure(pool, { workspaceId, kind: 'visitor', targetId: visitor });
    const [sent, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const exec = async (...given: Parameters<typeof clickhouse.exec>) => {
      sent.resolve();
      await gate.promise;
      return clickhouse.exec(...given);
    };
    const slow = Object.create(clickhouse, { exec: { value: exec } });
    const publishing = publishOrders({
      ...{ pool, metrics, log: silentLogger() },
      replicas: [{ name: 'main', clickhouse: slow }],
    });
    await sent.promise;
    const erasing = eraseRequested({ ...rig.stores, metrics });
    const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await pool.query(waits)).rowCount).toBe(1);
    gate.resolve();
    await Promise.all([publishing, erasing]);
    const open = async () => {
      await eraseRequested({ ...rig.stores, metrics });
      return (await pool.query('SELECT FROM erasures WHERE done_at IS NULL')).rowCount;
    };
    await expect.poll(open).toBe(0);
    expect(await rig.ask('SELECT order_id, email, visitor_id FROM orders')).toEqual({
      order_id: 'o-1',
      email: '',
      visitor_id: '00000000-0000-0000-0000-000000000000',
    });
  });

  it('that are done drop what the journal of a retired stream brings later', async () => {
    const { pool } = rig.stores;
    const { workspace } = rig;
    const [erased, kept, button, link] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const gone = await rig.stream('ingest-1');
    const stream = await rig.stream('ingest-0');
    rig.work();
    await retireStream(pool, gone.streamId);
    const before = Date.now() * 1000 - 60_000_000;
    await requestErasure(pool, { workspaceId: workspace, kind: 'visitor', targetId: erased });
    await requestErasure(pool, { workspaceId: workspace, kind: 'link', targetId: button });
    stream.append([heartbeat(Date.now() * 1000 + 60_000_000)]);
    await rig.settled(stream);
    const metrics = createWorkerMetrics(new Registry());
    await eraseAll(metrics);
    const after = Date.now() * 1000 + 60_000_000;
    gone.append([
      click({ workspace, link, visitor: erased, ts: before, channel: 'erased visitor' }),
      click({ workspace, link: button, visitor: kept, ts: before + 1, channel: 'erased link' }),
      click({ workspace, link, visitor: kept, ts: before + 2, channel: 'kept' }),
      identify({ workspace, visitor: erased, ts: before + 3, email: 'ann@example.com', user: 'ann' }),
      order({ workspace, visitor: erased, ts: before + 4, orderId: 'o-1', email: 'ann@example.com' }),
      click({ workspace, link, visitor: erased, ts: after, channel: 'came back' }),
    ]);
    await rig.settled(gone);
    expect(await left()).toEqual(['kept', 'came back']);
    expect(await rig.stored('identifies')).toMatchObject({ rows: 0 });
    expect((await pool.query('SELECT FROM identities')).rowCount).toBe(0);
    expect((await pool.query('SELECT order_id, visitor_id, email FROM orders')).rows).toEqual([
      { order_id: 'o-1', visitor_id: null, email: null },
    ]);
    await rig.published();
    expect(await rig.ask('SELECT email FROM orders')).toEqual({ email: '' });
  });

  it('that wait for the watermark do not delay younger ones, however many they are', async () => {
    const { pool } = rig.stores;
    const { workspace } = rig;
    const youngest = uuidv7();
    const stream = await rig.stream('ingest-0');
    stream.append([click({ workspace, link: youngest, visitor: uuidv7(), ts: Date.now() * 1000 })]);
    rig.work();
    await rig.settled(stream);
    for (let n = 0; n < 500; n++) {
      await requestErasure(pool, { workspaceId: workspace, kind: 'visitor', targetId: uuidv7() });
    }
    await requestErasure(pool, { workspaceId: workspace, kind: 'link', targetId: youngest });
    const metrics = createWorkerMetrics(new Registry());
    const eraseAndRead = async () => {
      await eraseRequested({ ...rig.stores, metrics });
      return left();
    };
    await expect.poll(eraseAndRead).toEqual([]);
    const { rows } = await pool.query('SELECT FROM erasures WHERE done_at IS NULL');
    expect(rows).toHaveLength(501);
  });

  describe('with a webhook', () => {
    const over = {
      ...pendingState(1, 0),
      status: 'failed' as const,
      responseBody: 'seen',
      nextAttemptAt: null,
    };
    let webhookId: string;
    let micros = 0;
    beforeEach(async () => {
      webhookId = uuidv7();
      await rig.stores.pool.query(
        `INSERT INTO webhooks (id, workspace_id, url, events, active_since, created_at, updated_at)
         VALUES ($1, $2, 'https://a.example', '{click.created}', now(), now(), now())`,
        [webhookId, rig.workspace],
      );
    });

    /** @param age of the event, milliseconds */
    function add(type: string, data: object, state: DeliveryState, age = 3_600_000): Promise<void> {
      const [id, eventId] = [uuidv7(), uuidv7()];
      const createdAt = new Date(Date.now() - age).toISOString();
      const body = deliveryBody({ id: eventId, type, created_at: createdAt, data });
      const { workspace: workspaceId } = rig;
      return addDeliveries(rig.stores.pool, [
        { id, workspaceId, webhookId, eventId, type, body, createdAt: ++micros, state },
      ]);
    }

    async function erase(kind: 'visitor' | 'link', targetId: string): Promise<void> {
      const { pool } = rig.stores;
      await requestErasure(pool, { workspaceId: rig.workspace, kind, targetId });
      await eraseRequested({ ...rig.stores, metrics: createWorkerMetrics(new Registry()) });
    }

    async function kept(): Promise<[type: string, status: string, data: unknown][]> {
      const { rows } = await rig.stores.pool.query<{ type: string; status: string; body: string }>(
        'SELECT type, status, body FROM webhook_deliveries ORDER BY created_at',
      );
      return rows.map(({ type, status, body }) => [type, status, JSON.parse(body).data]);
    }

    it('of a link delete the deliveries of its clicks, made or pending, and store none that come later', async () => {
      const [erased, other] = [{ link_id: uuidv7() }, { link_id: uuidv7() }];
      for (const data of [erased, other]) {
        await add('click.created', data, pendingState(0, 0));
        await add('click.created', data, over);
      }
      await add('sale.created', erased, over);
      await erase('link', erased.link_id);
      await add('click.created', erased, over);
      await add('click.created', erased, over, -3_600_000);
      expect(await kept()).toEqual([
        ['click.created', 'pending', other],
        ['click.created', 'failed', other],
        ['sale.created', 'failed', erased],
      ]);
    });

    it('of a visitor delete the deliveries of earlier clicks, and remove the identity from leads and sales', async () => {
      const link_id = uuidv7();
      const [erased, other] = [
        { link_id, visitor_id: uuidv7() },
        { link_id, visitor_id: uuidv7() },
      ];
      const lead = { ...erased, external_user_id: 'user', email: 'a@example.com', partner_id: 'p' };
      const source = 'server' as const;
      const bought = {
        order_id: 'o',
        amount: 19.99,
        currency: 'usd',
        source,
        created_at: '2026-11-20T10:00:00Z',
      };
      const sale = { ...bought, visitor_id: erased.visitor_id, external_user_id: 'user' };
      for (const data of [erased, other]) {
        await add('click.created', data, pendingState(0, 0));
        await add('click.created', data, over);
      }
      await add('lead.created', lead, pendingState(0, 0));
      await add('lead.created', { ...lead, ...other }, over);
      await add('sale.created', sale, over);
      const { pool } = rig.stores;
      await inTransaction(pool, (tx) =>
        queueEvents(tx, rig.workspace, [{ type: 'sale.created', data: sale }]),
      );
      await erase('visitor', erased.visitor_id);
      await add('click.created', erased, over); // the click arrives late
      await add('click.created', erased, over, -3_600_000); // the visitor comes back after the erasure
      const sold = { ...bought, visitor_id: null, external_user_id: null };
      expect(await kept()).toEqual([
        ['click.created', 'pending', other],
        ['click.created', 'failed', other],
        ['lead.created', 'pending', { ...lead, visitor_id: null, email: null }],
        ['lead.created', 'failed', { ...lead, ...other }],
        ['sale.created', 'failed', sold],
        ['click.created', 'failed', erased],
      ]);
      const { rows } = await pool.query('SELECT data FROM webhook_outbox');
      expect(rows).toEqual([{ data: sold }]);
      const answers = await pool.query(
        "SELECT FROM webhook_deliveries WHERE type = 'sale.created' AND response_body IS NOT NULL",
      );
      expect(answers.rowCount).toBe(0);
    });

    it('of a visitor remove the identity from sales of the visitor’s orders that do not name the visitor', async () => {
      const { pool } = rig.stores;
      const { workspace } = rig;
      const erased = uuidv7();
      const stream = await rig.stream('ingest-0');
      const ts = Date.now() * 1000 - 1_000_000;
      const of = { workspace, user: 'ann' };
      stream.append([
        order({ ...of, ts, orderId: 'by email', email: 'ann@example.com' }),
        order({ ...of, ts: ts + 1, orderId: 'by pixel', source: 'server' }),
        order({ ...of, ts: ts + 2, orderId: "another's", visitor: uuidv7() }),
      ]);
      const workers = rig.work();
      await rig.settled(stream);
      stream.append([
        order({ ...of, ts: ts + 3, orderId: 'by pixel', visitor: erased, source: 'pixel' }),
        heartbeat(Date.now() * 1000 + 3_600_000_000), // later than the request below
      ]);
      await rig.settled(stream);
      await workers.stop();
      const sale = (order_id: string) => ({ order_id, visitor_id: null, external_user_id: 'ann' });
      for (const id of ['by email', 'by pixel', "another's"]) {
        await add('sale.created', sale(id), over);
        await inTransaction(pool, (tx) =>
          queueEvents(tx, workspace, [{ type: 'sale.created', data: sale(id) as SaleData }]),
        );
      }
      const names = { emails: ['ann@example.com'], users: [] };
      await requestErasure(pool, { workspaceId: workspace, kind: 'visitor', targetId: erased, names });
      const metrics = createWorkerMetrics(new Registry());
      await eraseAll(metrics);
      const nobodys = (id: string) => ({ ...sale(id), external_user_id: null });
      const left = [nobodys('by email'), nobodys('by pixel'), sale("another's")];
      expect((await kept()).map(([, , data]) => data)).toEqual(left);
      const { rows } = await pool.query<{ data: unknown }>(
        `SELECT data FROM webhook_outbox WHERE data ->> 'visitor_id' IS NULL AND NOT data ? 'amount' ORDER BY created_at`,
      );
      expect(rows.map(({ data }) => data)).toEqual(left);
    });
  });
});
