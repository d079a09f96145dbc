import * as lemon from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';

/** Now and some time after it, as the providers write instants. */
const START = Date.now() - 60_000;
export const later = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
export const BUYER = { hoplog_user_id: 'n' };

/** A first payment of user `n`, its refunds, and the next payment, as a provider reports them. */
export type Story = {
  provider: 'paddle' | 'lemonsqueezy' | 'polar' | 'shopify';
  /** Order id of the first payment. */
  order: string;
  /** In minor units: what was paid, and the part of it that earns. 20 percent of that is earned. */
  paid: number;
  base: number;
  first: SentEvent[];
  /** Refunds 10.00 with its tax, then all. */
  partial: { event: SentEvent; minor: number };
  full: SentEvent;
  /** Order id, and the events of the next payment of the subscription; null: the provider does not report it. */
  renewal: { order: string; events: SentEvent[] } | null;
};

/** See {@link Story}. */
export function paddleStory(): Story {
  const { transaction, adjustment, paddleEvent, totals } = paddle;
  const subscription_id = 'sub_1';
  const paid = (id: string, origin: string, at: string, more: object = {}) =>
    paddleEvent(
      'transaction.completed',
      {
        ...transaction,
        id,
        origin,
        details: totals('USD', { total: 11_900, tax: 1_900 }),
        billed_at: at,
        ...more,
      },
      at,
    );
  const refund = (id: string, goods: number, tax: number, at: string) => {
    const [subtotal, total] = [String(goods), String(goods + tax)];
    const amounts = { ...adjustment.totals, subtotal, tax: String(tax), total };
    return paddleEvent(
      'adjustment.updated',
      { ...adjustment, id, transaction_id: 'txn_1', totals: amounts },
      at,
    );
  };
  return {
    provider: 'paddle',
    order: 'paddle:txn_1',
    paid: 11_900,
    base: 10_000,
    first: [
      paid('txn_1', 'web', later(1), { custom_data: BUYER }),
      paddleEvent(
        'subscription.created',
        { id: subscription_id, transaction_id: 'txn_1', customer_id: transaction.customer_id },
        later(2),
      ),
    ],
    partial: { event: refund('adj_1', 1_000, 190, later(20)), minor: 1_190 },
    full: refund('adj_2', 9_000, 1_710, later(21)),
    renewal: {
      order: 'paddle:txn_2',
      events: [paid('txn_2', 'subscription_recurring', later(10), { subscription_id })],
    },
  };
}

/** See {@link Story}. */
export function lemonSqueezyStory(): Story {
  const { order, subscription, invoice, lemonSqueezyEvent } = lemon;
  const of = (at: string) => ({ customer_id: 7, total: 11_900, tax: 1_900, created_at: at, updated_at: at });
  const paidInvoice = (id: string, billing_reason: string, at: string) =>
    lemonSqueezyEvent(
      'subscription_payment_success',
      id,
      { ...invoice, ...of(at), billing_reason, subscription_id: 5 },
      BUYER,
    );
  const refund = (refunded_amount: number, at: string) =>
    lemonSqueezyEvent('order_refunded', '1', { ...order, ...of(later(1)), refunded_amount, updated_at: at });
  return {
    provider: 'lemonsqueezy',
    order: 'lemonsqueezy:1',
    paid: 11_900,
    base: 10_000,
    first: [
      lemonSqueezyEvent('order_created', '1', { ...order, ...of(later(1)) }, BUYER),
      lemonSqueezyEvent(
        'subscription_created',
        '5',
        { ...subscription, ...of(later(1)), order_id: 1 },
        BUYER,
      ),
      paidInvoice('1', 'initial', later(2)),
    ],
    partial: { event: refund(1_000, later(20)), minor: 1_000 },
    full: refund(11_900, later(21)),
    renewal: { order: 'lemonsqueezy:invoice_2', events: [paidInvoice('2', 'renewal', later(10))] },
  };
}

/** See {@link Story}. */
export function polarStory(): Story {
  const { order, polarEvent } = polar;
  const paid = (id: string, billing_reason: string, at: string, more: object = {}) => ({
    ...order,
    id,
    billing_reason,
    subscription_id: 'polar-sub',
    created_at: at,
    ...more,
  });
  const metadata = BUYER;
  const first = paid('order-1', 'subscription_create', later(1), { metadata });
  const refund = (refunded_amount: number, refunded_tax_amount: number, at: string) =>
    polarEvent('order.refunded', { ...first, refunded_amount, refunded_tax_amount }, at);
  return {
    provider: 'polar',
    order: 'polar:order-1',
    paid: 9_720,
    base: 9_000,
    first: [polarEvent('order.paid', first, later(1))],
    partial: { event: refund(900, 72, later(20)), minor: 972 },
    full: refund(9_000, 720, later(21)),
    renewal: {
      order: 'polar:order-2',
      events: [polarEvent('order.paid', paid('order-2', 'subscription_cycle', later(10)), later(10))],
    },
  };
}

/** See {@link Story}. */
export function shopifyStory(): Story {
  const { order, refund, shopifyEvent } = shopify;
  const [transaction] = refund.transactions;
  const given = (id: string, amount: string, at: string) =>
    shopifyEvent('refunds/create', {
      ...refund,
      id,
      processed_at: at,
      transactions: [{ ...transaction, id: `9${id}`, amount }],
    });
  const sold = {
    ...order,
    test: false,
    total_price: '119.00',
    total_tax: '17.00',
    note_attributes: [{ name: 'hoplog_user_id', value: 'n' }],
    created_at: later(1),
    processed_at: later(1),
  };
  return {
    provider: 'shopify',
    order: 'shopify:820982911946154508',
    paid: 11_900,
    base: 9_200,
    first: [shopifyEvent('orders/paid', sold)],
    partial: { event: given('890088186047892319', '10.00', later(20)), minor: 1_000 },
    full: given('890088186047892320', '109.00', later(21)),
    renewal: null,
  };
}
