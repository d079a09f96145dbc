import { describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  charge,
  dispute,
  type StripeEvent,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { forgetPerson } from '../../sql/erasure/erased-persons.ts';
import { storeReports } from '../../workers/lane/store-reports.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, stripeShop } from './rig.ts';
import { order, ordersOf, paid, pass, type StripeShop, session } from './stripe-orders.ts';

/**
 * The buyers of Stripe's events, and the outcomes of the events, one scenario a test. The referrer `r` brought the user
 * `n`.
 */

const DAY = 86_400;

let shop: StripeShop;
let partner: string;

test.beforeEach(async ({ api }) => {
  shop = await stripeShop(api);
  const referral = await shop.referral({ commission_rate: 20, hold_days: 0 }, { email: 'n@mail.example' });
  partner = referral.partner_id;
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
});

const orders = () => ordersOf(shop);
const balance = async () => (await shop.balance('r')).eligible;

describe('who bought', () => {
  test('metadata comes before a tied customer, and that before an email', async () => {
    await shop.enroll('r2');
    for (const user of ['a', 'b', 'c']) await shop.signup(user, { email: `${user}@mail.example` });
    const ties = stripeObject('customer', { id: 'cus_1', metadata: { hoplog_user_id: 'b' } });
    await shop.tell(
      stripeEvent('customer.created', ties, ago(90)),
      paid('in_1', 1_000, { customer_email: 'c@mail.example', metadata: { hoplog_user_id: 'a' } }),
      paid('in_2', 1_000, { customer_email: 'c@mail.example', metadata: { hoplog_user_id: 'nobody' } }),
      paid('in_3', 1_000, {
        customer_email: 'c@mail.example',
        customer: 'cus_2',
        subscription: 'sub_2',
      }),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_1', 'a'],
      ['stripe:in_2', 'b'],
      ['stripe:in_3', 'c'],
    ]);
  });

  test('the metadata of a subscription names the buyer of its invoices, in either field', async () => {
    for (const user of ['a', 'b']) await shop.signup(user);
    const metadata = (user: string) => ({ hoplog_user_id: user });
    await shop.tell(
      paid('in_1', 1_000, {
        parent: {
          type: 'subscription_details',
          quote_details: null,
          subscription_details: { metadata: metadata('a'), subscription: 'sub_1' },
        },
      }),
      paid('in_2', 1_000, {
        customer: 'cus_2',
        parent: null,
        subscription_details: { metadata: metadata('b') },
      }),
    );
    expect((await shop.ledger()).purchases.map((one) => one.external_user_id)).toEqual(['a', 'b']);
  });

  test('an email is also that of a user whom a server identified, and not of one whom a page did', async ({
    api,
  }) => {
    await shop.signup('m');
    await shop.signup('o');
    const identify = (user: string, source: 'server' | 'pixel') => ({
      event: {
        kind: 'identify' as const,
        ts: Date.now() * 1_000,
        workspaceId: uuidToBytes(shop.shop.workspace.id),
        visitorId: uuidToBytes(crypto.randomUUID()),
        email: `${user}@work.example`,
        externalUserId: user,
        source,
      },
      ordinal: 0,
      sequence: source === 'server' ? 1n : 2n,
    });
    await inTransaction(api.stores.pool, (tx) =>
      storeReports(tx, { identifies: [identify('m', 'server'), identify('o', 'pixel')], orders: [] }),
    );
    await shop.tell(
      paid('in_1', 1_000, { customer_email: 'M@work.example' }),
      paid('in_2', 1_000, { customer: 'cus_2', subscription: 'sub_2', customer_email: 'o@work.example' }),
    );
    expect((await shop.ledger()).purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_1', 'm'],
    ]);
    expect(await shop.outcomes()).toEqual([
      ['invoice.paid', 'recorded', null],
      ['invoice.paid', 'unmatched', 'no_buyer'],
    ]);
  });

  test('a checkout that comes after its invoice corrects a buyer who was found by email', async () => {
    await shop.enroll('r2');
    const r2 = await shop.enroll('r2');
    await shop.signup('m', { ref_code: r2.ref, email: 'm@mail.example' });
    const invoiced = paid('in_1', 2_000, { customer_email: 'm@mail.example' });
    await shop.tell(invoiced);
    expect((await orders())['stripe:in_1']).toMatchObject({ user: 'm', earned: 400 });
    await shop.tell(session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1' }, ago(59)));
    expect((await orders())['stripe:in_1']).toEqual(order(2_000));
    expect([(await shop.balance('r2')).eligible, await balance()]).toEqual([0, 4]);
  });

  test('no one who is known leaves an order that is matched when the signup is reported', async () => {
    const r2 = await shop.enroll('r2');
    await shop.tell(
      paid('in_1', 2_000, { customer_email: 'late@mail.example' }),
      paid('in_2', 2_000, { customer: 'cus_2', metadata: { hoplog_user_id: 'late2' } }),
    );
    expect((await shop.outcomes()).map(([, status, reason]) => [status, reason])).toEqual([
      ['unmatched', 'no_buyer'],
      ['unmatched', 'unknown_buyer'],
    ]);
    await shop.signup('late', { ref_code: r2.ref, email: 'late@mail.example' });
    await shop.signup('late2', { ref_code: r2.ref });
    expect((await shop.balance('r2')).eligible).toBe(8);
    expect((await shop.outcomes()).map(([, status, reason]) => [status, reason])).toEqual(
      Array(2).fill(['recorded', null]),
    );
    expect(await shop.events('?status=unmatched')).toEqual([]);
  });

  test('two customers with one email are the users that they are tied to', async () => {
    for (const user of ['a', 'b']) await shop.signup(user, { email: 'one@mail.example' });
    const tie = (customer: string, user: string) =>
      stripeEvent(
        'customer.updated',
        stripeObject('customer', {
          id: customer,
          email: 'one@mail.example',
          metadata: { hoplog_user_id: user },
        }),
        ago(90),
      );
    const fields = { customer_email: 'one@mail.example' };
    await shop.tell(
      tie('cus_a', 'a'),
      paid('in_a', 1_000, { ...fields, customer: 'cus_a' }),
      paid('in_b', 1_000, { ...fields, customer: 'cus_b' }),
      tie('cus_b', 'b'),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_a', 'a'],
      ['stripe:in_b', 'b'],
    ]);
  });

  test('a customer who is merged into another user buys as the former one before, in any order', async () => {
    await shop.signup('m', { email: 'm@mail.example' });
    const tie = (user: string, at: number) =>
      stripeEvent(
        'customer.updated',
        stripeObject('customer', { id: 'cus_1', metadata: { hoplog_user_id: user } }),
        at,
      );
    await shop.tell(
      paid('in_2', 1_000, { billing_reason: 'manual' }, ago(10)),
      tie('m', ago(20)),
      paid('in_1', 1_000, { billing_reason: 'manual' }, ago(30)),
      tie('n', ago(40)),
    );
    const { purchases } = await shop.ledger();
    expect(purchases.map((one) => [one.order_id, one.external_user_id])).toEqual([
      ['stripe:in_1', 'n'],
      ['stripe:in_2', 'm'],
    ]);
  });

  test('an unmatched purchase is assigned to a referrer, also a day later', async ({ api }) => {
    const lost = paid('in_1', 2_000);
    await shop.tell(lost);
    await pass(api, shop, 100);
    await shop.tell(session({ mode: 'subscription', invoice: 'in_1' }, ago(1)));
    expect(await shop.outcomes()).toEqual([
      ['invoice.paid', 'unmatched', 'no_buyer'],
      ['checkout.session.completed', 'unmatched', 'no_buyer'],
    ]);
    const path = `/connections/${shop.connectionId}/events/${lost.id}/assign`;
    const assigned = await shop.shop.post<{ status: string }>(path, { partner_id: partner });
    expect([assigned.status, assigned.body.status]).toEqual([200, 'recorded']);
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000, { user: 'stripe:cus_1' }) });
    expect((await shop.shop.post(path, { partner_id: partner })).status).toBe(409);
    expect((await shop.shop.post(path, { partner_id: crypto.randomUUID() })).status).toBe(404);
    await shop.tell(paid('in_2', 2_000, { billing_reason: 'subscription_cycle' }, ago(5)));
    expect(await balance()).toBe(8);
  });
});

describe('an event', () => {
  const events = (): StripeEvent[] => [
    session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1' }),
    paid('in_1', 2_000),
  ];

  test('a day late counts', async () => {
    await shop.tell(
      paid('in_1', 2_000, {}, ago(DAY)),
      session({ mode: 'subscription', invoice: 'in_1' }, ago(DAY)),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000) });
  });

  test('twice counts once, and again when it is replayed', async () => {
    const [first, second] = events();
    if (!first || !second) throw new Error('no events');
    await shop.tell(first, second, first, second);
    await shop.replay(second);
    expect((await shop.events())[0]?.status).toBe('pending');
    await shop.work();
    expect(await orders()).toEqual({ 'stripe:in_1': order(2_000) });
    expect(await balance()).toBe(4);
    expect(await shop.events()).toHaveLength(2);
  });

  test('of test mode does not count beside live ones, unless the connection is for test mode', async ({
    api,
  }) => {
    const testing = await stripeShop(api, { settings: { mode: 'test' } });
    const test = { ...paid('in_1', 2_000), livemode: false };
    await shop.tell(test);
    await testing.tell(test, paid('in_2', 2_000));
    expect(await shop.outcomes()).toEqual([['invoice.paid', 'ignored', 'test_mode']]);
    expect(await testing.outcomes()).toEqual([
      ['invoice.paid', 'unmatched', 'no_buyer'],
      ['invoice.paid', 'ignored', 'live_mode'],
    ]);
  });

  test('of an unknown API version counts, one of an unknown type is ignored, one that can’t be read fails', async () => {
    await shop.tell(
      { ...paid('in_1', 2_000, { customer_email: 'n@mail.example' }), api_version: '2099-01-01.future' },
      stripeEvent('plan.created', stripeObject('customer'), ago(1)),
      paid('in_2', 2_000, { amount_paid: '2000' }),
      paid('in_3', 2_000, { currency: 'zzz' }),
    );
    expect(await shop.outcomes()).toEqual([
      ['invoice.paid', 'recorded', null],
      ['plan.created', 'ignored', 'type_not_used'],
      ['invoice.paid', 'failed', "can't be read: `amount_paid` must be an integer"],
      ['invoice.paid', 'failed', 'can\'t be read: currency "zzz"'],
    ]);
  });

  test('about an order that was reported by hand changes only what it refunds', async () => {
    await shop.purchase('n', 'stripe:in_1', 30);
    await shop.tell(...events());
    expect(await orders()).toEqual({ 'stripe:in_1': order(3_000) });
    await shop.tell(
      stripeEvent(
        'charge.refunded',
        charge('ch_1', 2_000, { invoice: 'in_1', amount_refunded: 500 }),
        ago(1),
      ),
    );
    expect(await orders()).toEqual({ 'stripe:in_1': order(3_000, { refunded: 500, earned: 500 }) });
  });

  test('about an order of another user fails with the reason', async () => {
    await shop.signup('other', {});
    await shop.purchase('other', 'stripe:in_1', 20);
    await shop.tell(...events());
    expect((await shop.outcomes()).at(-1)).toEqual(['invoice.paid', 'failed', 'reported_for_another_user']);
  });
});

test('what an event changes is in the audit log as the provider’s, and what it only records is not', async () => {
  const bought = session(
    { mode: 'payment', payment_intent: 'pi_1', amount_total: 5_000, currency: 'usd' },
    ago(50),
  );
  const charged = charge('ch_1', 5_000, { payment_intent: 'pi_1' });
  const opened = stripeEvent(
    'charge.dispute.created',
    dispute('dp_1', 'ch_1', 5_000, 'needs_response'),
    ago(30),
  );
  const won = stripeEvent('charge.dispute.closed', dispute('dp_1', 'ch_1', 5_000, 'won'), ago(20));
  const invoiced = paid('in_1', 2_000, { customer: 'cus_2', customer_email: 'n@mail.example' });
  const named = session({ id: 'cs_2', mode: 'subscription', invoice: 'in_1', customer: 'cus_2' }, ago(10));
  await shop.signup('m');
  const told = { ...named, data: { object: { ...named.data.object, metadata: { hoplog_user_id: 'm' } } } };
  const all = [bought, stripeEvent('charge.succeeded', charged, ago(49)), opened, won, invoiced, told];
  await shop.tell(...all, ...all);
  const { entries } = (
    await shop.shop.get<{ entries: { actor: object; action: string; target: object; details: object }[] }>(
      '/audit-log',
    )
  ).body;
  const provider = { type: 'provider', id: shop.connectionId, name: 'stripe' };
  const of = (action: string, event: StripeEvent, details: object) => ({
    actor: provider,
    action,
    target: { type: 'connection', id: shop.connectionId },
    details: { ...details, event_id: event.id },
  });
  const money = { order_id: 'stripe:pi_1', amount: 50, currency: 'usd' };
  expect(
    entries
      .filter(({ actor }) => JSON.stringify(actor).includes('provider'))
      .map(({ actor, action, target, details }) => ({ actor, action, target, details }))
      .reverse(),
  ).toEqual([
    of('customer.tie', bought, { customer: bought.data.object.customer }),
    of('refund.record', opened, money),
    of('refund.give_back', won, money),
    of('customer.tie', told, { customer: 'cus_2' }),
    of('purchase.correct', told, { order_id: 'stripe:in_1' }),
  ]);
});

test('erasing a person removes the email from payments and received events', async ({ api }) => {
  const mine = { customer_email: 'Gone@mail.example' };
  await shop.tell(paid('in_1', 2_000, mine), paid('in_2', 2_000, { customer_email: 'n@mail.example' }));
  const origin = { now: new Date(), by: 'operator' };
  await inTransaction(api.stores.pool, (tx) =>
    forgetPerson(tx, shop.shop.workspace.id, 'gone@mail.example', origin),
  );
  const { rows } = await api.stores.pool.query<{ stored: string }>(
    `SELECT parts::text AS stored FROM connection_payments WHERE connection_id = $1
     UNION ALL SELECT body FROM connection_events WHERE connection_id = $1`,
    [shop.connectionId],
  );
  expect(rows.filter(({ stored }) => /gone@/i.test(stored))).toEqual([]);
  expect(rows.filter(({ stored }) => stored.includes('n@mail.example'))).toHaveLength(2);
});
