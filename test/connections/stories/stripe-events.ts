import type { SentEvent } from '../../../core/connections/sent-event.ts';
import {
  charge,
  checkout,
  dispute,
  intent,
  invoice,
  invoicePayment,
  stripeEvent,
  stripeObject,
} from '../../../core/connections/stripe/fixtures/events.ts';
import type { StoryEvents } from './events.ts';
import { couponOf, emailOf, HOUR, namesOf, payerOf, refundsOf, START, secondsOf, type Told } from './told.ts';

/** Events of Stripe. The payer may be an account instead of a customer. */
export function stripeEvents(told: Told): StoryEvents {
  const { tie, hasTrial, payments, isAccount, currency, key } = told;
  const { customer, account: customer_account } = payerOf(told);
  const payer = { customer, customer_account };
  const events: SentEvent[] = [];
  const late: SentEvent[] = [];
  const add = (type: string, object: Record<string, unknown>, at: number, to = events) =>
    to.push({ body: JSON.stringify(stripeEvent(type, object, at)), headers: {} });
  const joins = told.isJoinedLate ? late : events;
  const named = namesOf(told);
  // The event of a customer names no account; a session that sets up later payments does.
  if (tie === 'event' && isAccount)
    add(
      'checkout.session.completed',
      checkout(`cs_${key}`, { ...payer, mode: 'setup', metadata: named }),
      START,
    );
  else if (tie === 'event')
    add('customer.updated', stripeObject('customer', { id: customer, email: null, metadata: named }), START);
  const hasCoupons = payments.some(({ hasCoupon }) => hasCoupon);
  const tellCode = () =>
    add(
      'promotion_code.created',
      stripeObject('promotion_code', { id: `promo_${key}`, code: couponOf(told) }),
      START,
    );
  if (hasCoupons && !told.isCodeLate) tellCode();
  const bill = (id: string, amount: number, at: number, reason: string, fields: object, when = at) =>
    add(
      'invoice.paid',
      invoice(id, amount, {
        ...payer,
        currency,
        subscription: `sub_${key}`,
        billing_reason: reason,
        status_transitions: { paid_at: at },
        customer_email: null,
        ...fields,
      }),
      when,
      when === at ? events : late,
    );
  if (hasTrial) {
    const customer_email = emailOf(told, { email: told.trialEmail });
    bill(`in_${key}_trial`, 0, START + HOUR, 'subscription_create', { customer_email });
  }
  for (const [index, one] of payments.entries()) {
    const at = secondsOf(index);
    const [pi, ch, inv] = [`pi_${key}_${index}`, `ch_${key}_${index}`, `in_${key}_${index}`];
    const metadata = one.isNamed ? named : {};
    const reason = index === 0 && !hasTrial ? 'subscription_create' : 'subscription_cycle';
    const billed = {
      customer_email: emailOf(told, one),
      metadata,
      ...(one.hasCoupon && { discounts: [{ promotion_code: `promo_${key}` }] }),
      ...(one.joined === 'invoice' && { payment_intent: pi, charge: ch }),
    };
    bill(inv, one.amount, at, reason, billed);
    if (one.edited !== null) bill(inv, one.edited, at, reason, billed, at + 700);
    const of = {
      ...payer,
      currency,
      invoice: null,
      latest_charge: ch,
      receipt_email: emailOf(told, one),
      metadata,
    };
    if (one.joined !== 'never') add('payment_intent.succeeded', intent(pi, one.amount, of), at);
    if (one.joined === 'invoice_payment')
      add('invoice_payment.paid', invoicePayment(`inpay_${key}_${index}`, inv, pi), at + 5, joins);
    if (one.joined === 'checkout')
      add(
        'checkout.session.completed',
        checkout(`cs_${key}_${index}`, {
          ...payer,
          mode: 'payment',
          payment_intent: pi,
          invoice: inv,
          subscription: `sub_${key}`,
          // An email that belongs to no user, and differs from the invoice's.
          customer_details: { email: `checkout${key}@mail.example` },
        }),
        at + 5,
        joins,
      );
    const ofCharge = {
      ...payer,
      currency,
      ...(one.joined === 'never' ? { payment_intent: null, invoice: inv } : { payment_intent: pi }),
    };
    for (const { nth, at: when, sum, failed } of refundsOf(one, at)) {
      if (failed === null) {
        const refunded = charge(ch, one.amount, { ...ofCharge, amount_refunded: sum });
        add('charge.refunded', refunded, when);
      } else {
        const refund = {
          id: `re_${key}_${index}_${nth}`,
          object: 'refund',
          amount: failed,
          currency,
          charge: ch,
        };
        add('refund.failed', { ...refund, payment_intent: null, status: 'failed' }, when);
      }
    }
    if (one.dispute === 'none') continue;
    const disputed = (status: string) => ({
      ...dispute(`dp_${key}_${index}`, ch, one.amount, status),
      currency,
      payment_intent: pi,
    });
    add('charge.dispute.created', disputed('needs_response'), at + 500);
    if (one.dispute !== 'open') add('charge.dispute.closed', disputed(one.dispute), at + 600);
  }
  if (hasCoupons && told.isCodeLate) tellCode();
  return { events, late };
}
