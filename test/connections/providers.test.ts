import { describe, expect } from 'vitest';
import * as lemon from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop, SECRET, SIGN } from './provider-rig.ts';
import {
  BUYER,
  later,
  lemonSqueezyStory,
  paddleStory,
  polarStory,
  type Story,
  shopifyStory,
} from './provider-stories.ts';

describe.each([
  ['Paddle', paddleStory],
  ['Lemon Squeezy', lemonSqueezyStory],
  ['Polar', polarStory],
  ['Shopify', shopifyStory],
] as const)('%s', (_, tell) => {
  const row = ({ order, paid, base }: Story, refunded: number, earned: number) => [
    order,
    'n',
    paid,
    'usd',
    base,
    false,
    refunded,
    earned,
  ];

  test('a first payment and its renewal are purchases of the user that the checkout named', async ({
    api,
  }) => {
    const story = tell();
    const shop = await providerShop(api, story.provider);
    await shop.tell(...story.first);
    expect(await shop.purchases()).toEqual([row(story, 0, story.base / 5)]);
    if (!story.renewal) return;
    await shop.tell(...story.renewal.events);
    const [first, second] = await shop.purchases();
    expect(first).toEqual(row(story, 0, story.base / 5));
    expect(second).toEqual([
      story.renewal.order,
      'n',
      story.paid,
      'usd',
      story.base,
      true,
      0,
      story.base / 5,
    ]);
  });

  test('refunds lower the commission in proportion, and to nothing', async ({ api }) => {
    const story = tell();
    const shop = await providerShop(api, story.provider);
    await shop.tell(...story.first, story.partial.event);
    const [partly] = await shop.purchases();
    expect(partly?.slice(0, 7)).toEqual(row(story, story.partial.minor, 0).slice(0, 7));
    expect(partly?.[7]).toBeLessThan(story.base / 5);
    expect(partly?.[7]).toBeGreaterThan(0);
    await shop.tell(story.full);
    expect(await shop.purchases()).toEqual([row(story, story.paid, 0)]);
    expect(await shop.balances()).toEqual([]);
  });

  test('events in any order, each twice, come to the same', async ({ api }) => {
    const story = tell();
    const shop = await providerShop(api, story.provider);
    const events = [...story.first, story.partial.event, ...(story.renewal?.events ?? [])];
    await shop.tell(...events);
    const expected = { purchases: await shop.purchases(), balances: await shop.balances() };
    const other = await providerShop(api, story.provider);
    await other.tell(...events.toReversed(), ...events);
    expect({ purchases: await other.purchases(), balances: await other.balances() }).toEqual(expected);
    expect(await other.outcomes()).toHaveLength(events.length);
  });

  test('a wrong or missing signature is a 400 and stores nothing', async ({ api }) => {
    const story = tell();
    const shop = await providerShop(api, story.provider);
    const [event] = story.first;
    if (!event) throw new Error('the story has no event');
    const changed = { ...event, body: `${event.body} ` };
    const signature = SIGN[story.provider](event, SECRET, Math.floor(Date.now() / 1_000));
    const missing = {
      'paddle-signature': '',
      'x-signature': '',
      'webhook-signature': '',
      'x-shopify-hmac-sha256': '',
    };
    const refused = [
      await shop.send(event, { secret: 'another secret' }),
      await shop.send(event, { headers: missing }),
      await shop.send(changed, { headers: signature }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
    const hasTime = story.provider === 'paddle' || story.provider === 'polar';
    const old = await shop.send(event, { at: Math.floor(Date.now() / 1_000) - 301 });
    expect(old.status).toBe(hasTime ? 400 : 200);
    expect(await shop.outcomes()).toHaveLength(hasTime ? 0 : 1);
  });

  test('an event of a type that is not used is ignored', async ({ api }) => {
    const story = tell();
    const shop = await providerShop(api, story.provider);
    const unused: Record<Story['provider'], SentEvent> = {
      paddle: paddle.paddleEvent('product.created', { id: 'pro_1' }, later(1)),
      lemonsqueezy: lemon.lemonSqueezyEvent('license_key_created', '1', {
        updated_at: later(1),
        test_mode: false,
      }),
      polar: polar.polarEvent('product.created', { id: 'product' }, later(1)),
      shopify: shopify.shopifyEvent('products/create', { id: '1', created_at: later(1) }),
    };
    await shop.tell(unused[story.provider]);
    expect(await shop.outcomes()).toEqual([[expect.any(String), 'ignored', 'type_not_used']]);
  });
});

describe('Paddle', () => {
  test('a chargeback takes the commission back, and gives it again when it is reversed', async ({ api }) => {
    const { first } = paddleStory();
    const shop = await providerShop(api, 'paddle');
    const chargeback = (status: string, at: string) =>
      paddle.paddleEvent(
        'adjustment.updated',
        {
          ...paddle.adjustment,
          id: 'adj_c',
          action: 'chargeback',
          status,
          transaction_id: 'txn_1',
          totals: { ...paddle.adjustment.totals, total: '11900' },
        },
        at,
      );
    await shop.tell(...first, chargeback('approved', later(30)));
    expect((await shop.purchases())[0]?.slice(6)).toEqual([11_900, 0]);
    await shop.tell(chargeback('reversed', later(31)));
    expect((await shop.purchases())[0]?.slice(6)).toEqual([0, 2_000]);
  });

  test('a refund that waits for approval is none, a credit lowers what was paid, yen have no minor units', async ({
    api,
  }) => {
    const shop = await providerShop(api, 'paddle');
    const { transaction, adjustment, paddleEvent, totals } = paddle;
    const details = totals('JPY', { total: 1_100, tax: 100, credit: 550 });
    const sold = { ...transaction, id: 'txn_yen', details, billed_at: later(1), custom_data: BUYER };
    const waiting = { ...adjustment, status: 'pending_approval', transaction_id: 'txn_yen' };
    await shop.tell(
      paddleEvent('transaction.completed', sold, later(1)),
      paddleEvent('adjustment.created', waiting, later(2)),
    );
    expect((await shop.purchases())[0]?.slice(0, 7)).toEqual([
      'paddle:txn_yen',
      'n',
      550,
      'jpy',
      500,
      false,
      0,
    ]);
    expect((await shop.outcomes())[1]).toEqual(['adjustment.created', 'ignored', 'says_nothing']);
  });

  test('a trial is no sale; the first payment after it is the first sale', async ({ api }) => {
    const { transaction, paddleEvent, totals } = paddle;
    const shop = await providerShop(api, 'paddle');
    const paid = (id: string, origin: string, total: number, at: string, more: object) =>
      paddleEvent(
        'transaction.completed',
        { ...transaction, id, origin, details: totals('USD', { total }), billed_at: at, ...more },
        at,
      );
    await shop.tell(
      paid('txn_trial', 'web', 0, later(1), { custom_data: BUYER }),
      paddleEvent('subscription.created', { id: 'sub_t', transaction_id: 'txn_trial' }, later(2)),
      paid('txn_one', 'subscription_recurring', 1_000, later(3), { subscription_id: 'sub_t' }),
      paid('txn_two', 'subscription_recurring', 1_000, later(4), { subscription_id: 'sub_t' }),
    );
    expect((await shop.purchases()).map((row) => [row[0], row[5]])).toEqual([
      ['paddle:txn_one', false],
      ['paddle:txn_two', true],
    ]);
  });
});

describe('Lemon Squeezy', () => {
  test('an order and the first invoice of its subscription are one purchase, whichever event comes first', async ({
    api,
  }) => {
    const { first, order } = lemonSqueezyStory();
    const [created, subscribed, invoiced] = first;
    if (!created || !subscribed || !invoiced) throw new Error('the story has three events');
    for (const events of [
      [invoiced, created, subscribed],
      [invoiced, subscribed, created],
      [subscribed, invoiced, created],
    ]) {
      const shop = await providerShop(api, 'lemonsqueezy');
      await shop.tell(...events);
      expect((await shop.purchases()).map((row) => row[0])).toEqual([order]);
    }
  });

  test('a refund that the order and the first invoice both tell of counts once', async ({ api }) => {
    const { first, partial } = lemonSqueezyStory();
    const shop = await providerShop(api, 'lemonsqueezy');
    const refunded = {
      ...lemon.invoice,
      customer_id: 7,
      subscription_id: 5,
      total: 11_900,
      refunded_amount: partial.minor,
      updated_at: later(22),
    };
    const same = lemon.lemonSqueezyEvent('subscription_payment_refunded', '1', refunded);
    await shop.tell(...first, partial.event, same);
    expect((await shop.purchases())[0]?.[6]).toBe(partial.minor);
  });
});

describe('Polar', () => {
  test("the buyer may be the customer's id in the merchant's system", async ({ api }) => {
    const shop = await providerShop(api, 'polar');
    const { customer, order, polarEvent } = polar;
    await shop.tell(
      polarEvent('customer.created', { ...customer, external_id: 'n' }, later(1)),
      polarEvent('order.paid', { ...order, created_at: later(2) }, later(2)),
    );
    expect((await shop.purchases())[0]?.slice(0, 2)).toEqual([`polar:${order.id}`, 'n']);
  });
});

test.for<[string, string, () => SentEvent]>([
  [
    'Lemon Squeezy',
    'lemonsqueezy:1',
    () => {
      const { order, lemonSqueezyEvent } = lemon;
      const at = later(1);
      const yen = { currency: 'JPY', total: 1_100, tax: 100, created_at: at, updated_at: at };
      return lemonSqueezyEvent('order_created', '1', { ...order, ...yen }, BUYER);
    },
  ],
  [
    'Polar',
    'polar:yen',
    () => {
      const { order, polarEvent } = polar;
      const amounts = { subtotal_amount: 1_000, discount_amount: 0, net_amount: 1_000, tax_amount: 100 };
      const yen = { currency: 'jpy', total_amount: 1_100, due_amount: 1_100, ...amounts };
      return polarEvent('order.paid', { ...order, ...yen, id: 'yen', metadata: BUYER }, later(1));
    },
  ],
])('%s counts yen without minor units, as ISO 4217 says', async ([_, orderId, paid], { api }) => {
  const provider = orderId.startsWith('polar') ? 'polar' : 'lemonsqueezy';
  const shop = await providerShop(api, provider);
  await shop.tell(paid());
  expect((await shop.purchases()).map((row) => row.slice(0, 5))).toEqual([
    [orderId, 'n', 1_100, 'jpy', 1_000],
  ]);
});

describe('test mode', () => {
  test('orders of test mode count only where the connection says so', async ({ api }) => {
    const events = {
      lemonsqueezy: lemon.lemonSqueezyEvent(
        'order_created',
        '9',
        { ...lemon.order, created_at: later(1), updated_at: later(1), test_mode: true },
        BUYER,
      ),
      shopify: shopify.shopifyEvent('orders/paid', {
        ...shopify.order,
        note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
        created_at: later(1),
      }),
    };
    for (const [provider, event] of Object.entries(events) as ['lemonsqueezy' | 'shopify', SentEvent][]) {
      const live = await providerShop(api, provider);
      await live.tell(event);
      expect((await live.outcomes())[0]?.slice(1)).toEqual(['ignored', 'test_mode']);
      expect(await live.purchases()).toEqual([]);
      const test = await providerShop(api, provider, { mode: 'test' });
      await test.tell(event);
      expect(await test.purchases()).toHaveLength(1);
    }
  });
});
