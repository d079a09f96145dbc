import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLICK_FLAGS } from '../../core/events/types.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { merchant } from '../../test/referrals/support.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { type Receiver, startReceiver } from '../../test/support/receiver.ts';
import { until } from '../../test/support/until.ts';
import { createWebhookBench, type WebhookBench } from '../../test/support/webhook-bench.ts';
import { metric } from '../../test/support/worker-rig.ts';
import { click, order } from '../test-support/events.ts';

const ALL = [
  'click.created',
  'lead.created',
  'sale.created',
  'commission.created',
  'credit.earned',
  'credit.delivered',
];

let bench: WebhookBench;
let receiver: Receiver;
let shop: TestWorkspace;
beforeAll(async () => {
  bench = await createWebhookBench();
  receiver = await startReceiver();
  // Two at once: together they deliver as one would.
  bench.work();
  bench.work();
});
beforeEach(async () => {
  shop = await bench.api.addWorkspace();
  receiver.received.length = 0;
});
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

function types(): string[] {
  return receiver.received.map((one) => one.event.type).toSorted();
}

describe('events', () => {
  it('of the referral program carry the documented fields', async () => {
    const hook = await bench.hook(shop, receiver.url, ALL);
    const { program, enroll, signup, purchase } = merchant(shop);
    const made = await program({
      credit_enabled: true,
      signup_credit: { free: 5, paid: 5 },
      destination_url: 'https://shop.example/join',
    });
    const { ref, partner_id } = await enroll('ann');
    await signup('bob', { ref_code: ref, email: 'bob@example.com' });
    await receiver.until(2);
    expect(types()).toEqual(['credit.earned', 'lead.created']);
    const dataOf = (type: string) => receiver.received.find((one) => one.event.type === type)?.event.data;
    expect(dataOf('lead.created')).toEqual({
      external_user_id: 'bob',
      email: 'bob@example.com',
      visitor_id: null,
      partner_id,
      program_id: made.id,
      created_at: expect.any(String),
    });
    const { body } = await shop.get<{ grants: { id: number }[] }>('/credits?external_user_id=ann');
    expect(dataOf('credit.earned')).toEqual(body.grants[0]);

    await shop.post(`/credits/${body.grants[0]?.id}/mark-delivered`);
    await receiver.until(3);
    const after = await shop.get<{ grants: object[] }>('/credits?external_user_id=ann');
    expect(dataOf('credit.delivered')).toEqual(after.body.grants[0]);

    await purchase('bob', 'order-1', 19.99);
    await receiver.until(4);
    expect(dataOf('sale.created')).toEqual({
      order_id: 'order-1',
      amount: 19.99,
      currency: 'usd',
      external_user_id: 'bob',
      visitor_id: null,
      source: 'server',
      created_at: expect.any(String),
    });
    await purchase('bob', 'order-1', 19.99); // a replay is not a sale
    await bench.settled();
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(4);
    await shop.delete(`/webhooks/${hook.id}`);
  });

  it('of a purchase in affiliate mode are the sale and the commission', async () => {
    await bench.hook(shop, receiver.url, ['commission.created', 'sale.created']);
    const { program, enroll, signup, purchase } = merchant(shop);
    const made = await program({
      credit_enabled: false,
      commission_type: 'percent',
      commission_rate: 20,
      destination_url: 'https://shop.example/join',
    });
    const { ref, partner_id } = await enroll('ann');
    await signup('bob', { ref_code: ref });
    await purchase('bob', 'order-1', 100);
    await receiver.until(2);
    const commission = receiver.received.find((one) => one.event.type === 'commission.created');
    expect(commission?.event.data).toEqual({
      id: expect.any(String),
      program_id: made.id,
      partner_id,
      order_id: 'order-1',
      level: 1,
      amount: 20,
      remaining: 20,
      currency: 'usd',
      status: 'pending',
      created_at: expect.any(String),
    });
  });

  it('of a blocked signup are none', async () => {
    await bench.hook(shop, receiver.url, ALL);
    const { program, enroll, signup } = merchant(shop);
    await program({
      credit_enabled: true,
      signup_credit: { free: 5, paid: 5 },
      destination_url: 'https://shop.example/join',
    });
    const { ref } = await enroll('ann', { email: 'ann@example.com' });
    const { body: outcome } = await signup('ann-again', { ref_code: ref, email: 'ann+2@example.com' });
    expect(outcome.blocked).toBe(true);
    await bench.settled();
    expect(receiver.received).toEqual([]);
  });

  it('of an order through the event log are one sale, however often and by whom it is reported', async () => {
    const hook = await bench.hook(shop, receiver.url, ['sale.created']);
    const workspace = shop.workspace.id;
    const ts = Date.now() * 1_000;
    bench.stream.append([
      order({ workspace, ts, orderId: 'pixel-first', amountMinor: 1_999 }),
      order({ workspace, ts: ts + 1, orderId: 'server-only', source: 'server', amountMinor: 500 }),
      order({ workspace, ts: ts + 2, orderId: 'pixel-first', source: 'server', amountMinor: 2_000 }),
    ]);
    await receiver.until(2);
    bench.stream.append([order({ workspace, ts: ts + 3, orderId: 'server-only', source: 'server' })]);
    await merchant(shop).purchase('somebody', 'pixel-first', 20);
    bench.stream.append([order({ workspace, ts: ts + 4, orderId: 'last' })]);
    await receiver.until(3);
    const sales = receiver.received.map((one) => one.event.data);
    expect(sales.map((sale) => sale.order_id).toSorted()).toEqual(['last', 'pixel-first', 'server-only']);
    expect(sales.find((sale) => sale.order_id === 'server-only')).toEqual({
      order_id: 'server-only',
      amount: 5,
      currency: 'usd',
      external_user_id: null,
      visitor_id: null,
      source: 'server',
      created_at: expect.any(String),
    });
    await shop.delete(`/webhooks/${hook.id}`);
  });

  it('of clicks are those of people; bots, prefetches and HEAD requests fire none', async () => {
    await bench.hook(shop, receiver.url, ['click.created']);
    const given = { workspace: shop.workspace.id, link: uuidv7() };
    const ts = Date.now() * 1_000;
    const person = uuidv7();
    bench.stream.append([
      {
        ...click({ ...given, visitor: uuidv7(), ts }),
        userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)',
      },
      click({ ...given, visitor: uuidv7(), ts: ts + 1, flags: CLICK_FLAGS.prefetch }),
      click({ ...given, visitor: uuidv7(), ts: ts + 2, flags: CLICK_FLAGS.head }),
      click({ ...given, visitor: person, ts: ts + 3 }),
    ]);
    await receiver.until(1);
    await bench.settled();
    expect(receiver.received.map((one) => one.event.data)).toMatchObject([
      { visitor_id: person, link_id: given.link, is_bot: false },
    ]);
  });

  it('go to the webhooks of their own workspace that subscribe to them, and to no other', async () => {
    const neighbor = await bench.api.addWorkspace();
    const theirs = await startReceiver();
    await bench.hook(neighbor, theirs.url, ALL);
    await bench.hook(shop, `${receiver.url}?clicks`, ['click.created']);
    await bench.hook(shop, `${receiver.url}?credits`, ['credit.earned']);
    await bench.hook(shop, `${receiver.url}?both`, ['click.created', 'credit.earned']);
    bench.clicks(shop);
    await bench.credit(shop);
    await receiver.until(4);
    await bench.settled();
    expect(types()).toEqual(['click.created', 'click.created', 'credit.earned', 'credit.earned']);
    // One event has one id for every webhook.
    expect(new Set(receiver.received.map((one) => one.id)).size).toBe(2);
    expect(theirs.received).toEqual([]);
    await theirs.close();
  });

  it('from before a webhook was created, or while it was off, are not delivered', async () => {
    bench.clicks(shop);
    await bench.credit(shop, { id: 1 });
    const hook = await bench.hook(shop, receiver.url, ['click.created', 'credit.earned']);
    await bench.credit(shop, { id: 2 });
    await receiver.until(1);
    await shop.patch(`/webhooks/${hook.id}`, { is_active: false });
    bench.clicks(shop);
    await bench.credit(shop, { id: 3 });
    await shop.patch(`/webhooks/${hook.id}`, { is_active: true });
    await bench.credit(shop, { id: 4 });
    await receiver.until(2);
    await bench.passBy();
    expect(receiver.received.map((one) => one.event.data)).toEqual([{ id: 2 }, { id: 4 }]);
  });
});

describe('the log', () => {
  it('is not held while no webhook wants clicks; a webhook created then gets its first click', async () => {
    const { pool } = bench.api.stores;
    await pool.query('UPDATE webhooks SET is_active = false');
    await pool.query('UPDATE webhook_changes SET version = version + 1');
    const { rows: before } = await pool.query<{ next_offset: string }>(
      `SELECT next_offset FROM log_lanes WHERE consumer = 'webhooks'`,
    );
    bench.clicks(shop, 500);
    const offsets = async () => {
      const { rows } = await pool.query<{ consumer: string; next_offset: string }>(
        'SELECT consumer, next_offset FROM log_lanes ORDER BY consumer',
      );
      const [store, webhooks] = rows.map((row) => BigInt(row.next_offset));
      return { store, webhooks };
    };
    const start = BigInt(before[0]?.next_offset ?? 0);
    await until(
      `both lanes at one offset past ${start}`,
      offsets,
      ({ store, webhooks }) => webhooks !== undefined && webhooks > start && webhooks === store,
    );
    await bench.hook(shop, receiver.url, ['click.created']);
    bench.clicks(shop);
    await receiver.until(1);
    await bench.settled();
    expect(receiver.received).toHaveLength(1);
    expect(uuidToBytes(receiver.received[0]?.id ?? '')).toHaveLength(16);
  });

  it('has its metrics', async () => {
    await bench.hook(shop, receiver.url, ['credit.earned']);
    await bench.credit(shop);
    await receiver.until(1);
    const text = await bench.registry().metrics();
    for (const name of [
      'hoplog_webhook_deliveries_total',
      'hoplog_webhook_attempts_total',
      'hoplog_webhook_attempt_seconds_bucket',
      'hoplog_webhook_pending',
    ]) {
      expect(text).toContain(name);
    }
    expect(await metric(bench.registry(), 'hoplog_webhook_pending')).toBeGreaterThanOrEqual(0);
  });
});
