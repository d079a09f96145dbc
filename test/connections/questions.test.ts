import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { invoice, stripeEvent } from '../../core/connections/stripe/fixtures/events.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { ago, stripeShop } from './rig.ts';
import { ordersOf, paid, pass, type StripeShop } from './stripe-orders.ts';

/** Codes and invoices from before the connection, of which it got no events. A stand-in for Stripe's API has them. */

let server: Server;
let asked: string[];
/** Bodies of Stripe's responses by path. */
let known: Record<string, object>;

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const { pathname } = new URL(url, 'http://stripe');
    asked.push(decodeURIComponent(url));
    const body = known[pathname];
    return response
      .writeHead(body ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body ?? { error: { type: 'invalid_request_error', message: 'No such object' } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  asked = [];
  known = {};
});
afterAll(async () => {
  server.close();
});

async function shopOf(
  api: TestApi,
  { withKey }: { withKey: boolean },
  program: object = {},
): Promise<StripeShop> {
  const { port } = server.address() as AddressInfo;
  const key = withKey ? { restricted_key: 'rk_live_of_test' } : {};
  const shop = await stripeShop(api, key, `http://127.0.0.1:${port}`);
  await shop.referral({ commission_rate: 20, hold_days: 0, ...program }, { email: 'n@mail.example' });
  await shop.shop.post('/coupons', { code: 'OLD20', external_user_id: 'r' });
  return shop;
}
const guest = { customer_email: 'guest@x.example' };
const promotion = { id: 'promo_OLD', object: 'promotion_code', code: 'OLD20', active: true };
const discount = {
  id: 'di_1',
  object: 'discount',
  promotion_code: 'promo_OLD',
  source: { coupon: 'co_1', type: 'coupon' },
};
const lines = (discounts: unknown[]) => ({
  lines: {
    object: 'list',
    has_more: false,
    url: '/v1/invoices/in_1/lines',
    data: [{ id: 'il_1', object: 'line_item', amount: 10_000, discounts }],
  },
});

describe('a code from before the connection', () => {
  test.for<[string, object, string[]]>([
    ['by its id', { discounts: [{ promotion_code: 'promo_OLD' }] }, ['/v1/promotion_codes/promo_OLD']],
    ['in an expanded discount', { discounts: [discount] }, ['/v1/promotion_codes/promo_OLD']],
    ['on a line of the invoice', lines([discount]), ['/v1/promotion_codes/promo_OLD']],
    ['by the id of a discount', { discounts: ['di_1'] }, ['/v1/invoices/in_1']],
    ['by the id of a discount on a line', lines(['di_1']), ['/v1/invoices/in_1']],
    ['in an expanded code', { discounts: [{ ...discount, promotion_code: promotion }] }, []],
  ])('that is named %s is its referrer’s, and Stripe is asked once', async ([_, named, calls], { api }) => {
    known = {
      '/v1/promotion_codes/promo_OLD': promotion,
      '/v1/invoices/in_1': {
        ...invoice('in_1', 10_000),
        discounts: [{ ...discount, promotion_code: promotion }],
      },
    };
    const shop = await shopOf(api, { withKey: true });
    await shop.tell(paid('in_1', 10_000, { ...guest, ...named }));
    await shop.settleDue();
    expect((await shop.ledger()).purchases).toMatchObject([{ referrer: 'r', earned: 2_000 }]);
    expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
    expect(asked.map((url) => url.split('?')[0])).toEqual(calls);
    if (calls.length === 0 || calls[0]?.includes('invoices')) return;
    await shop.tell(paid('in_2', 10_000, { ...guest, ...named, customer: 'cus_2', subscription: 'sub_2' }));
    await shop.settleDue();
    expect((await shop.ledger()).purchases).toHaveLength(2);
    expect(asked).toHaveLength(calls.length);
  });

  test('is a coupon without a promotion code, expanded or by the id of a discount', async ({ api }) => {
    const ofCoupon = { id: 'di_1', object: 'discount', promotion_code: null, source: { coupon: 'OLD20' } };
    known = { '/v1/invoices/in_1': { ...invoice('in_1', 10_000), discounts: [ofCoupon] } };
    for (const named of ['di_1', ofCoupon]) {
      const shop = await shopOf(api, { withKey: true });
      await shop.tell(paid('in_1', 10_000, { ...guest, discounts: [named] }));
      await shop.settleDue();
      expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
      expect((await shop.ledger()).purchases).toMatchObject([{ referrer: 'r', earned: 2_000 }]);
    }
  });

  test('may look like an id of a code', async ({ api }) => {
    const shop = await shopOf(api, { withKey: true });
    await shop.shop.post('/coupons', { code: 'promo_anna', external_user_id: 'r' });
    const code = { ...promotion, id: 'promo_1', code: 'promo_anna' };
    await shop.tell(paid('in_1', 10_000, { ...guest, discounts: [{ ...discount, promotion_code: code }] }));
    expect(await shop.outcomes()).toEqual([['invoice.paid', 'recorded', null]]);
    expect((await shop.ledger()).purchases).toMatchObject([{ referrer: 'r', earned: 2_000 }]);
    expect(asked).toEqual([]);
  });

  test('is named by the outcome without a key, and where Stripe does not know it', async ({ api }) => {
    const named = { ...guest, discounts: [{ promotion_code: 'promo_OLD' }] };
    for (const withKey of [false, true]) {
      const shop = await shopOf(api, { withKey });
      await shop.tell(paid('in_1', 10_000, named));
      await shop.settleDue();
      await shop.settleDue();
      expect(await shop.outcomes()).toEqual([['invoice.paid', 'unmatched', 'unknown_code: promo_OLD']]);
    }
    expect(asked).toEqual(['/v1/promotion_codes/promo_OLD']);
  });

  test('counts once Stripe tells of the code, also days later when the event is replayed', async ({
    api,
  }) => {
    const changed = () => stripeEvent('promotion_code.updated', promotion, ago(5));
    const named = { ...guest, discounts: [{ promotion_code: 'promo_OLD' }] };
    const soon = await shopOf(api, { withKey: false });
    await soon.tell(paid('in_1', 10_000, named), changed());
    expect((await soon.ledger()).purchases).toMatchObject([{ referrer: 'r', earned: 2_000 }]);
    const late = await shopOf(api, { withKey: false });
    const event = paid('in_1', 10_000, named);
    await late.tell(event);
    await pass(api, late, 100);
    await late.tell(changed());
    expect((await late.ledger()).purchases).toEqual([]);
    expect((await late.replay(event)).status).toBe(200);
    await late.work();
    expect((await late.ledger()).purchases).toMatchObject([{ referrer: 'r', earned: 2_000 }]);
  });
});

describe('a trial from before the connection', () => {
  const cycle = (id: string, at: number) =>
    paid(id, 10_000, { billing_reason: 'subscription_cycle', customer_email: 'n@mail.example' }, at);
  const firstOnly = { first_sale_only: true };

  test('makes the first paid invoice the first sale, in any order', async ({ api }) => {
    for (const ids of [
      ['in_1', 'in_2'],
      ['in_2', 'in_1'],
    ]) {
      const shop = await shopOf(api, { withKey: false }, firstOnly);
      await shop.tell(...ids.map((id) => cycle(id, id === 'in_1' ? ago(60) : ago(30))));
      expect(await ordersOf(shop)).toMatchObject({
        'stripe:in_1': { renewal: false, earned: 2_000 },
        'stripe:in_2': { renewal: true, earned: 0, reason: 'renewal_not_covered' },
      });
      expect(await verifyLedger(api.stores.pool, [shop.shop.workspace.id])).toMatchObject({ ok: true });
    }
  });

  test('is none where the buyer has bought before', async ({ api }) => {
    const shop = await shopOf(api, { withKey: false }, { first_sale_only: false });
    await shop.tell(
      paid('in_0', 10_000, { customer_email: 'n@mail.example', subscription: 'sub_0' }, ago(90)),
      cycle('in_1', ago(60)),
    );
    expect((await ordersOf(shop))['stripe:in_1']).toMatchObject({ renewal: true });
  });

  test.for<[before: string, amount: number, isRenewal: boolean]>([
    ['a paid one', 5_000, true],
    ['only a free one', 0, false],
  ])('is asked about once with a key: %s before', async ([_, amount, isRenewal], { api }) => {
    const earlier = {
      ...invoice('in_0', amount),
      created: ago(90),
      status_transitions: { paid_at: ago(90) },
    };
    const own = { ...invoice('in_1', 10_000), created: ago(60), status_transitions: { paid_at: ago(60) } };
    known = {
      '/v1/invoices': { object: 'list', data: [own, earlier], has_more: false, url: '/v1/invoices' },
    };
    const shop = await shopOf(api, { withKey: true }, firstOnly);
    await shop.tell(cycle('in_1', ago(60)));
    await shop.settleDue();
    await shop.settleDue();
    expect((await ordersOf(shop))['stripe:in_1']).toMatchObject({
      renewal: isRenewal,
      earned: isRenewal ? 0 : 2_000,
    });
    expect(asked.map((url) => url.split('?')[0])).toEqual(['/v1/invoices']);
    await shop.tell(stripeEvent('invoice.paid', invoice('in_9', 100, { customer: 'cus_9' }), ago(1)));
    await shop.settleDue();
    expect(asked).toHaveLength(1);
  });
});
