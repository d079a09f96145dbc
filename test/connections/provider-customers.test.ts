import { expect } from 'vitest';
import * as lemon from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { Provider } from '../../core/connections/providers.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { providerShop } from './provider-rig.ts';
import { later } from './provider-stories.ts';

/**
 * One customer of Paddle, Lemon Squeezy, Polar, and Shopify, like the one of Stripe in `one-customer.test.ts`. The
 * referrer `r` brought the user `n` (n@mail.example).
 */

/** A payment of a subscription at a provider, without names; `first` has the email. */
const STORIES: Partial<Record<Provider, { first: (email?: string) => SentEvent[]; next: () => SentEvent }>> =
  {
    lemonsqueezy: {
      first: (email = 'n@mail.example') => [
        lemon.lemonSqueezyEvent('order_created', '1', {
          ...lemon.order,
          customer_id: 7,
          total: 10_000,
          tax: 0,
          user_email: email,
          created_at: later(1),
          updated_at: later(1),
        }),
      ],
      next: () =>
        lemon.lemonSqueezyEvent('subscription_payment_success', '2', {
          ...lemon.invoice,
          customer_id: 7,
          total: 10_000,
          tax: 0,
          subscription_id: 5,
          user_email: 'new@work.example',
          billing_reason: 'renewal',
          created_at: later(9),
          updated_at: later(9),
        }),
    },
    polar: {
      first: (email = 'n@mail.example') => [polarSale('order-1', 'subscription_create', email, later(1))],
      next: () => polarSale('order-2', 'subscription_cycle', 'new@work.example', later(9)),
    },
    shopify: {
      first: (email = 'n@mail.example') => [shopifySale('1', email, later(1))],
      next: () => shopifySale('2', 'new@work.example', later(9)),
    },
  };
const paddleSale = (id: string, origin: string, at: string) =>
  paddle.paddleEvent(
    'transaction.completed',
    {
      ...paddle.transaction,
      id,
      origin,
      details: paddle.totals('USD', { total: 10_000 }),
      billed_at: at,
      customer_id: paddle.customer.id,
      subscription_id: 'sub_1',
    },
    at,
  );
const polarSale = (id: string, billing_reason: string, email: string, at: string) =>
  polar.polarEvent(
    'order.paid',
    {
      ...polar.order,
      id,
      billing_reason,
      subscription_id: 'polar-sub',
      created_at: at,
      customer: { ...polar.customer, email },
    },
    at,
  );
const shopifySale = (id: string, email: string, at: string) =>
  shopify.shopifyEvent('orders/paid', {
    ...shopify.order,
    id,
    test: false,
    note_attributes: [],
    email,
    created_at: at,
    processed_at: at,
  });

test.for(['lemonsqueezy', 'polar', 'shopify'] as const)(
  'a customer of %s whom an email named once is the same buyer under another',
  async (provider, { api }) => {
    const other = await providerShop(api, provider);
    const story = STORIES[provider];
    if (!story) throw new Error('no story');
    await other.tell(...story.first(), story.next());
    expect((await other.purchases()).map(([, user]) => user)).toEqual(['n', 'n']);
    expect((await other.outcomes()).map(([, status]) => status)).toEqual(['recorded', 'recorded']);
  },
);

test.for(['lemonsqueezy', 'polar', 'shopify'] as const)(
  'a customer of %s whom a signup names after all payments is the buyer of each',
  async (provider, { api }) => {
    const other = await providerShop(api, provider);
    const story = STORIES[provider];
    if (!story) throw new Error('no story');
    await other.tell(...story.first('late@mail.example'), story.next());
    const { ref } = await other.enroll('r');
    await other.signup('late', { ref_code: ref, email: 'late@mail.example' });
    await other.settleDue();
    expect((await other.purchases()).map(([, user]) => user)).toEqual(['late', 'late']);
    expect((await other.outcomes()).map(([, status]) => status)).toEqual(['recorded', 'recorded']);
  },
);

test('a customer of Paddle who was assigned once is the same buyer in the next transaction', async ({
  api,
}) => {
  const other = await providerShop(api, 'paddle');
  const first = paddleSale('txn_1', 'web', later(1));
  await other.tell(first);
  const [event] = (
    await other.shop.get<{ events: { event_id: string }[] }>(`/connections/${other.connection.id}/events`)
  ).body.events;
  const path = `/connections/${other.connection.id}/events/${event?.event_id}/assign`;
  expect((await other.shop.post(path, { partner_id: other.partnerId })).status).toBe(200);
  await other.tell(paddleSale('txn_2', 'subscription_recurring', later(9)));
  expect((await other.outcomes()).map(([, status]) => status)).toEqual(['recorded', 'recorded']);
  expect(new Set((await other.purchases()).map(([, user]) => user)).size).toBe(1);
});

test('the email of a customer of Paddle names the buyer of a transaction without custom data', async ({
  api,
}) => {
  const other = await providerShop(api, 'paddle');
  await other.tell(
    paddle.paddleEvent('customer.created', { ...paddle.customer, email: 'n@mail.example' }, later(0)),
    paddleSale('txn_1', 'web', later(1)),
  );
  expect((await other.purchases()).map(([, user]) => user)).toEqual(['n']);
});
