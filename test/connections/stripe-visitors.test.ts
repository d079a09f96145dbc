import { expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { linkIdOf, storeClicks } from '../referrals/support.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, stripeShop } from './rig.ts';
import { order, ordersOf, paid, type StripeShop, session } from './stripe-orders.ts';

/** Payments that name a visitor. The referrer `r` brought the user `n`; `other` is another referrer. */

const HOUR = 3_600;

let shop: StripeShop;
let ref: string;
let visitor: string;

test.beforeEach(async ({ api }) => {
  await api.stores.pool.query('DELETE FROM ingest_streams');
  shop = await stripeShop(api);
  ref = (await shop.referral({ commission_rate: 20, hold_days: 0 })).ref;
  visitor = crypto.randomUUID();
});
test.afterEach(async ({ api }) => {
  expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
});

/** Stores a click of the visitor on a referrer's link, some seconds ago. */
async function click(api: TestApi, slug: string, seconds: number): Promise<void> {
  const at = new Date(ago(seconds) * 1_000);
  await storeClicks(api, {
    workspaceId: shop.shop.workspace.id,
    linkId: await linkIdOf(api, slug),
    visitorId: visitor,
    at,
  });
}

/** A checkout that names no user. */
const checkout = (fields: object) =>
  session({ mode: 'subscription', invoice: 'in_1', subscription: 'sub_1', metadata: {}, ...fields });
const users = async () =>
  Object.values<{ user: string; earned: number }>(await ordersOf(shop)).map(({ user, earned }) => [
    user,
    earned,
  ]);

test.for<[string, () => object]>([
  ['hoplog_visitor_id in the metadata', () => ({ metadata: { hoplog_visitor_id: visitor.toUpperCase() } })],
  ['client_reference_id', () => ({ client_reference_id: visitor })],
])('a visitor in %s who clicked a referral link is the referrer’s buyer', async ([_, names], { api }) => {
  await click(api, ref, 2 * HOUR);
  await shop.tell(checkout(names()), paid('in_1', 2_000));
  expect(await ordersOf(shop)).toEqual({ 'stripe:in_1': order(2_000, { user: 'stripe:cus_1' }) });
  // From then on, the customer belongs to the referrer.
  await shop.tell(paid('in_2', 2_000, { billing_reason: 'subscription_cycle' }, ago(30)));
  expect((await ordersOf(shop))['stripe:in_2']).toEqual(
    order(2_000, { user: 'stripe:cus_1', renewal: true }),
  );
});

test('a visitor who is a known user buys as that user, and a user who is not known gets the visitor’s referrer', async ({
  api,
}) => {
  await shop.signup('v', { ref_code: ref, _vid: visitor });
  await shop.tell(checkout({ client_reference_id: visitor }), paid('in_1', 2_000));
  expect(await users()).toEqual([['v', 400]]);
  visitor = crypto.randomUUID();
  await click(api, ref, 2 * HOUR);
  const metadata = { hoplog_user_id: 'unreported', hoplog_visitor_id: visitor };
  await shop.tell(paid('in_2', 2_000, { customer: 'cus_2', subscription: null, metadata }));
  expect((await ordersOf(shop))['stripe:in_2']).toEqual(order(2_000, { user: 'unreported' }));
});

test('a client reference of the form of a visitor’s id names the user who has that id', async () => {
  const user = crypto.randomUUID();
  await shop.signup(user, { ref_code: ref });
  await shop.tell(checkout({ client_reference_id: user }), paid('in_1', 2_000));
  expect(await users()).toEqual([[user, 400]]);
});

test('a visitor whom no one knows is passed over: the email decides', async () => {
  await shop.signup('m', { ref_code: ref, email: 'm@mail.example' });
  await shop.tell(
    checkout({ client_reference_id: visitor, customer_details: { email: 'm@mail.example' } }),
    paid('in_1', 2_000),
  );
  expect(await users()).toEqual([['m', 400]]);
});

test.each<[string, unknown]>([
  ['too long', 'u'.repeat(201)],
  ['with NUL', 'a\u0000b'],
  ['no text', { id: 'n' }],
])('a name that is %s is passed over, and costs no purchase', async (_, hoplog_user_id) => {
  const metadata = { hoplog_user_id, hoplog_visitor_id: hoplog_user_id };
  await shop.signup('m', { ref_code: ref, email: 'm@mail.example' });
  await shop.tell(paid('in_1', 2_000, { metadata, customer_email: 'm@mail.example' }));
  expect(await users()).toEqual([['m', 400]]);
});

test('the link that was clicked before the payment counts, also when the event is late', async ({ api }) => {
  const other = await shop.enroll('other');
  await click(api, ref, 2 * HOUR);
  await click(api, other.ref, 600);
  const at = ago(HOUR);
  await shop.tell(
    { ...checkout({ client_reference_id: visitor }), created: at },
    paid('in_1', 2_000, { status_transitions: { paid_at: at } }, at),
  );
  expect([(await shop.balance('r')).eligible, (await shop.balance('other')).eligible]).toEqual([4, 0]);
});

test('an event with a visitor waits for earlier clicks, and holds later events of its customer only', async ({
  api,
}) => {
  const { streamId } = await registerStream(api.stores.pool, 'ingest-behind');
  const visibleUpTo = (seconds: number) =>
    api.stores.pool.query('UPDATE ingest_streams SET visible_before = $2 WHERE stream_id = $1', [
      streamId,
      seconds * 1_000_000,
    ]);
  await visibleUpTo(ago(HOUR));
  const elsewhere = { customer: 'cus_2', subscription: null, metadata: { hoplog_user_id: 'n' } };
  await shop.tell(
    checkout({ client_reference_id: visitor }),
    paid('in_1', 2_000),
    paid('in_9', 1_000, elsewhere),
  );
  expect((await shop.outcomes()).map(([, status]) => status)).toEqual(['pending', 'pending', 'recorded']);
  await click(api, ref, 2 * HOUR);
  await visibleUpTo(ago(-HOUR));
  await expect
    .poll(async () => {
      await shop.work();
      return (await shop.outcomes()).map(([, status]) => status);
    })
    .toEqual(['recorded', 'recorded', 'recorded']);
  expect((await ordersOf(shop))['stripe:in_1']).toEqual(order(2_000, { user: 'stripe:cus_1' }));
});
