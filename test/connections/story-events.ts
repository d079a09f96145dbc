import * as lemon from '../../core/connections/lemonsqueezy/fixtures/events.ts';
import * as paddle from '../../core/connections/paddle/fixtures/events.ts';
import * as polar from '../../core/connections/polar/fixtures/events.ts';
import type { Provider } from '../../core/connections/providers.ts';
import type { SentEvent } from '../../core/connections/sent-event.ts';
import * as shopify from '../../core/connections/shopify/fixtures/events.ts';
import {
  charge,
  checkout,
  dispute,
  intent,
  invoice,
  invoicePayment,
  stripeEvent,
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import type { Story, StoryPayment } from './story-model.ts';

/** Stories in the events of each provider, with their own object shapes. Amounts have no tax, so that all of them earns. */

const HOUR = 3_600;
export const EMAILS = { own: 'n@mail.example', other: 'other@work.example', none: null };
export const COUPON = 'R2SAVES';
/** The customer's id at each provider. */
export const CUSTOMER: Record<Provider, string> = {
  stripe: 'cus_1',
  paddle: 'ctm_1',
  lemonsqueezy: '7',
  polar: 'polar-customer',
  shopify: '115310627314723954',
};
const NAMED = { hoplog_user_id: 'n' };

/** Seconds since the epoch, so that all of a story is within its 72 hours. */
const START = Math.floor(Date.now() / 1_000) - 60 * HOUR;
const secondsOf = (index: number) => START + (10 + index) * HOUR;
const iso = (seconds: number) => new Date(seconds * 1_000).toISOString();

/** A change of what was refunded of a payment: how much more, or that the last one failed. */
type Refund = { nth: number; at: number; added: number; sum: number; failed: number | null };

function refundsOf({ refunds }: StoryPayment, paidAt: number): Refund[] {
  let [sum, last, of] = [0, 0, 0];
  return refunds.map((state, nth) => {
    const at = paidAt + 100 + nth * 10;
    if (state === 'failed') {
      const failed = last;
      sum -= last;
      last = 0;
      return { nth: of, at, added: 0, sum, failed };
    }
    [last, sum, of] = [state - sum, state, nth];
    return { nth, at, added: last, sum, failed: null };
  });
}

/** Order id of a payment of a story. */
export function orderOf({ provider, payments }: Story, index: number): string {
  const isAlone = payments[index]?.joined === 'never';
  const ids: Record<Provider, string> = {
    stripe: isAlone ? `in_${index}` : `pi_${index}`,
    paddle: `txn_${index}`,
    lemonsqueezy: index === 0 ? '1' : `invoice_${index + 1}`,
    polar: `order-${index}`,
    shopify: String(1_000 + index),
  };
  return `${provider}:${ids[provider]}`;
}

export function eventsOf(story: Story): SentEvent[] {
  const told: Record<Provider, (story: Story) => SentEvent[]> = {
    stripe: stripeEvents,
    paddle: paddleEvents,
    lemonsqueezy: lemonSqueezyEvents,
    polar: polarEvents,
    shopify: shopifyEvents,
  };
  return told[story.provider](story);
}

function stripeEvents({ tie, hasTrial, payments }: Story): SentEvent[] {
  const events: SentEvent[] = [];
  const add = (type: string, object: Record<string, unknown>, at: number) =>
    events.push({ body: JSON.stringify(stripeEvent(type, object, at)), headers: {} });
  if (tie === 'event')
    add('customer.updated', stripeObject('customer', { id: 'cus_1', email: null, metadata: NAMED }), START);
  if (payments.some(({ hasCoupon }) => hasCoupon))
    add('promotion_code.created', stripeObject('promotion_code', { id: 'promo_1', code: COUPON }), START);
  const bill = (id: string, amount: number, at: number, reason: string, fields: object) =>
    add(
      'invoice.paid',
      invoice(id, amount, {
        subscription: 'sub_1',
        billing_reason: reason,
        status_transitions: { paid_at: at },
        customer_email: null,
        ...fields,
      }),
      at,
    );
  if (hasTrial) bill('in_trial', 0, START + HOUR, 'subscription_create', {});
  for (const [index, one] of payments.entries()) {
    const at = secondsOf(index);
    const [pi, ch, inv] = [`pi_${index}`, `ch_${index}`, `in_${index}`];
    const metadata = one.isNamed ? NAMED : {};
    bill(inv, one.amount, at, index === 0 && !hasTrial ? 'subscription_create' : 'subscription_cycle', {
      customer_email: EMAILS[one.email],
      metadata,
      ...(one.hasCoupon && { discounts: [{ promotion_code: 'promo_1' }] }),
      ...(one.joined === 'invoice' && { payment_intent: pi, charge: ch }),
    });
    const of = { invoice: null, latest_charge: ch, receipt_email: EMAILS[one.email], metadata };
    if (one.joined !== 'never') add('payment_intent.succeeded', intent(pi, one.amount, of), at);
    if (one.joined === 'invoice_payment')
      add('invoice_payment.paid', invoicePayment(`inpay_${index}`, inv, pi), at + 5);
    if (one.joined === 'checkout')
      add(
        'checkout.session.completed',
        checkout(`cs_${index}`, { mode: 'payment', payment_intent: pi, invoice: inv, subscription: 'sub_1' }),
        at + 5,
      );
    const ofCharge = one.joined === 'never' ? { payment_intent: null, invoice: inv } : { payment_intent: pi };
    for (const { nth, at: when, sum, failed } of refundsOf(one, at)) {
      if (failed === null) {
        const refunded = charge(ch, one.amount, { ...ofCharge, amount_refunded: sum });
        add('charge.refunded', refunded, when);
      } else {
        const refund = {
          id: `re_${index}_${nth}`,
          object: 'refund',
          amount: failed,
          currency: 'usd',
          charge: ch,
        };
        add('refund.failed', { ...refund, payment_intent: null, status: 'failed' }, when);
      }
    }
    if (one.dispute === 'none') continue;
    const disputed = (status: string) => ({
      ...dispute(`dp_${index}`, ch, one.amount, status),
      payment_intent: pi,
    });
    add('charge.dispute.created', disputed('needs_response'), at + 500);
    if (one.dispute !== 'open') add('charge.dispute.closed', disputed(one.dispute), at + 600);
  }
  return events;
}

function paddleEvents({ tie, hasTrial, payments }: Story): SentEvent[] {
  const { adjustment, customer, discount, paddleEvent, totals, transaction } = paddle;
  const customer_id = CUSTOMER.paddle;
  const sold = (id: string, amount: number, origin: string, at: number, fields: object) =>
    paddleEvent(
      'transaction.completed',
      {
        ...transaction,
        id,
        customer_id,
        origin,
        subscription_id: 'sub_1',
        details: totals('USD', { total: amount }),
        billed_at: iso(at),
        ...fields,
      },
      iso(at),
    );
  const email = EMAILS[payments[0]?.email ?? 'none'];
  const custom_data = tie === 'event' ? NAMED : null;
  const person = { ...customer, id: customer_id, email, custom_data };
  return [
    ...(email === null && custom_data === null ? [] : [paddleEvent('customer.updated', person, iso(START))]),
    ...(payments.some(({ hasCoupon }) => hasCoupon)
      ? [paddleEvent('discount.created', { ...discount, id: 'dsc_1', code: COUPON }, iso(START))]
      : []),
    ...(hasTrial ? [sold('txn_trial', 0, 'web', START + HOUR, {})] : []),
    ...payments.flatMap((one, index) => {
      const at = secondsOf(index);
      const adjusted = (id: string, action: string, status: string, amount: number, when: number) =>
        paddleEvent(
          'adjustment.updated',
          {
            ...adjustment,
            id,
            action,
            status,
            customer_id,
            transaction_id: `txn_${index}`,
            subscription_id: 'sub_1',
            totals: { ...adjustment.totals, subtotal: String(amount), tax: '0', total: String(amount) },
          },
          iso(when),
        );
      const dispute = (status: string, when: number) =>
        adjusted(`adj_${index}_chargeback`, 'chargeback', status, one.amount, when);
      return [
        sold(`txn_${index}`, one.amount, index === 0 && !hasTrial ? 'web' : 'subscription_recurring', at, {
          ...(one.isNamed && { custom_data: NAMED }),
          ...(one.hasCoupon && { discount_id: 'dsc_1' }),
        }),
        ...refundsOf(one, at).map(({ nth, at: when, added, failed }) =>
          failed === null
            ? adjusted(`adj_${index}_${nth}`, 'refund', 'approved', added, when)
            : adjusted(`adj_${index}_${nth}`, 'refund', 'reversed', failed, when),
        ),
        ...(one.dispute === 'none' ? [] : [dispute('approved', at + 500)]),
        ...(one.dispute === 'won' ? [dispute('reversed', at + 600)] : []),
      ];
    }),
  ];
}

function lemonSqueezyEvents({ payments }: Story): SentEvent[] {
  const { invoice: bill, lemonSqueezyEvent, order, subscription } = lemon;
  return payments.flatMap((one, index) => {
    const at = secondsOf(index);
    const named = one.isNamed ? NAMED : undefined;
    const of = {
      customer_id: 7,
      user_email: EMAILS[one.email],
      total: one.amount,
      tax: 0,
      created_at: iso(at),
      updated_at: iso(at),
    };
    const paid = {
      ...bill,
      ...of,
      subscription_id: 5,
      billing_reason: index === 0 ? 'initial' : 'renewal',
    };
    const invoiceId = String(index + 1);
    return [
      ...(index === 0
        ? [
            lemonSqueezyEvent('order_created', '1', { ...order, ...of }, named),
            lemonSqueezyEvent('subscription_created', '5', { ...subscription, ...of, order_id: 1 }, named),
          ]
        : []),
      lemonSqueezyEvent('subscription_payment_success', invoiceId, paid, named),
      // It tells the sum alone: a refund that failed is a smaller one.
      ...refundsOf(one, at).map(({ at: when, sum }) =>
        index === 0
          ? lemonSqueezyEvent('order_refunded', '1', {
              ...order,
              ...of,
              refunded_amount: sum,
              updated_at: iso(when),
            })
          : lemonSqueezyEvent('subscription_payment_refunded', invoiceId, {
              ...paid,
              refunded_amount: sum,
              updated_at: iso(when),
            }),
      ),
    ];
  });
}

function polarEvents({ tie, hasTrial, payments }: Story): SentEvent[] {
  const { customer, order, polarEvent } = polar;
  const customer_id = CUSTOMER.polar;
  const sold = (
    id: string,
    amount: number,
    reason: string,
    at: number,
    email: string | null,
    fields: object,
  ) => ({
    ...order,
    id,
    customer_id,
    customer: { ...customer, id: customer_id, email, metadata: {}, external_id: null },
    subtotal_amount: amount,
    discount_amount: 0,
    net_amount: amount,
    tax_amount: 0,
    total_amount: amount,
    due_amount: amount,
    billing_reason: reason,
    subscription_id: 'polar-sub',
    created_at: iso(at),
    ...fields,
  });
  const person = { ...customer, id: customer_id, email: null, metadata: NAMED, external_id: null };
  return [
    ...(tie === 'event' ? [polarEvent('customer.updated', person, iso(START))] : []),
    ...(hasTrial
      ? [
          polarEvent(
            'order.paid',
            sold('order-trial', 0, 'subscription_create', START + HOUR, null, {}),
            iso(START + HOUR),
          ),
        ]
      : []),
    ...payments.flatMap((one, index) => {
      const at = secondsOf(index);
      const reason = index === 0 && !hasTrial ? 'subscription_create' : 'subscription_cycle';
      const paid = sold(`order-${index}`, one.amount, reason, at, EMAILS[one.email], {
        ...(one.isNamed && { metadata: NAMED }),
        ...(one.hasCoupon && { discount: { id: 'd1', code: COUPON } }),
      });
      return [
        polarEvent('order.paid', paid, iso(at)),
        ...refundsOf(one, at).map(({ nth, at: when, sum, failed }) =>
          failed === null
            ? polarEvent('order.refunded', { ...paid, refunded_amount: sum }, iso(when))
            : polarEvent(
                'refund.updated',
                {
                  id: `refund-${index}-${nth}`,
                  status: 'failed',
                  amount: failed,
                  tax_amount: 0,
                  currency: 'usd',
                  order_id: paid.id,
                  customer_id,
                  subscription_id: 'polar-sub',
                },
                iso(when),
              ),
        ),
      ];
    }),
  ];
}

function shopifyEvents({ payments }: Story): SentEvent[] {
  const { order, refund, shopifyEvent } = shopify;
  const [transaction] = refund.transactions;
  const decimal = (minor: number) => (minor / 100).toFixed(2);
  return payments.flatMap((one, index) => {
    const at = secondsOf(index);
    const order_id = String(1_000 + index);
    const given = (nth: number, amount: number, status: string, when: number) => ({
      ...transaction,
      id: `9${index}${nth}`,
      order_id,
      status,
      amount: decimal(amount),
      processed_at: iso(when),
    });
    const email = EMAILS[one.email];
    return [
      shopifyEvent('orders/paid', {
        ...order,
        id: order_id,
        test: false,
        email,
        customer: { ...order.customer, email },
        total_price: decimal(one.amount),
        total_shipping_price_set: null,
        shipping_lines: [],
        note_attributes: one.isNamed ? [{ name: 'hoplog_user_id', value: 'n' }] : [],
        created_at: iso(at),
        processed_at: iso(at),
      }),
      ...refundsOf(one, at).map(({ nth, at: when, added, failed }) =>
        failed === null
          ? shopifyEvent('refunds/create', {
              ...refund,
              id: `8${index}${nth}`,
              order_id,
              processed_at: iso(when),
              transactions: [given(nth, added, 'success', when)],
            })
          : shopifyEvent('order_transactions/create', given(nth, failed, 'failure', when)),
      ),
    ];
  });
}
