import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import {
  charge,
  checkout,
  dispute,
  intent,
  invoice,
  invoicePayment,
  type StripeEvent,
  stripeEvent,
} from '../../core/connections/stripe/fixtures/events.ts';
import { merchant } from '../referrals/support.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { ago, ledgerOf, stripeShop } from './rig.ts';

/**
 * A history of purchases is told twice: by Stripe's events, in any order and more than once, and by hand in the order of
 * its times. Both must end with the same purchases and balances.
 */

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

/** How many random histories each run plays; CONNECTION_HISTORIES=500 plays more. */
const RUNS = Number(process.env.CONNECTION_HISTORIES ?? 10);
const replayed = {
  ...(process.env.HISTORY_SEED !== undefined && { seed: Number(process.env.HISTORY_SEED) }),
  ...(process.env.HISTORY_PATH !== undefined && { path: process.env.HISTORY_PATH }),
};

const HOUR = 3_600;
const USERS = ['n', 'm', 'stranger'] as const;

/** One payment of a user. Amounts are cents. */
const payment = fc.record({
  user: fc.constantFrom(...USERS),
  /** Of the user's subscription, or a payment of its own. */
  kind: fc.constantFrom('invoice', 'checkout'),
  amount: fc.integer({ min: 1, max: 30_000 }),
  tax: fc.integer({ min: 0, max: 5_000 }),
  /** What names the buyer. */
  named: fc.constantFrom('metadata', 'customer', 'email'),
  refunds: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 2 }),
  dispute: fc.option(
    fc.record({ percent: fc.integer({ min: 1, max: 100 }), end: fc.constantFrom('open', 'won', 'lost') }),
  ),
  /** An API version before 2025-03-31. */
  isOld: fc.boolean(),
});
type Payment = typeof payment extends fc.Arbitrary<infer T> ? T : never;

const history = fc.record({
  program: fc.constantFrom(
    { commission_rate: 20, hold_days: 0 },
    { commission_rate: 12.5, hold_days: 30 },
    { commission_rate: 20, hold_days: 0, first_sale_only: true },
    { commission_type: 'flat' as const, commission_rate: 3, hold_days: 0, first_sale_only: true },
    { credit_enabled: true, purchase_credit: 5, first_sale_only: false },
    { credit_enabled: true, purchase_credit: 5, first_sale_only: true },
  ),
  hasTrial: fc.boolean(),
  payments: fc.array(payment, { minLength: 1, maxLength: 5 }),
  /** The order in which events arrive. Events beyond its length come in theirs. */
  shuffle: fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 }),
  repeated: fc.array(fc.nat({ max: 1_000 }), { maxLength: 6 }),
});

type Told = { events: StripeEvent[]; byHand: { at: number; order: object; refunded: number; id: string }[] };

/** What the history is in Stripe's events, and in reports by hand. */
function tell({ payments, hasTrial }: { payments: Payment[]; hasTrial: boolean }): Told {
  const events: StripeEvent[] = [];
  const byHand: Told['byHand'] = [];
  const subscribed = new Set<string>();
  for (const [index, one] of payments.entries()) {
    const at = ago(60 * HOUR - index * HOUR);
    const amount = one.amount + one.tax;
    const [pi, ch, inv] = [`pi_${index}`, `ch_${index}`, `in_${index}`];
    const customer = `cus_${one.user}`;
    const metadata = one.named === 'metadata' ? { hoplog_user_id: one.user } : {};
    const email = `${one.user}@mail.example`;
    const ofInvoice = one.kind === 'invoice';
    const older = one.isOld ? { invoice: ofInvoice ? inv : null } : {};
    const isFirst = ofInvoice && !subscribed.has(one.user);
    if (ofInvoice) {
      if (isFirst && hasTrial) {
        const trial = invoice(`in_trial_${one.user}`, 0, { subscription: `sub_${one.user}`, customer });
        events.push(stripeEvent('invoice.paid', trial, at - 60));
      }
      subscribed.add(one.user);
      const bill = invoice(inv, amount, {
        subscription: `sub_${one.user}`,
        billing_reason: isFirst && !hasTrial ? 'subscription_create' : 'subscription_cycle',
        customer,
        metadata,
        total_excluding_tax: one.amount,
        customer_email: email,
        status_transitions: { paid_at: at },
        ...(one.isOld && { payment_intent: pi, charge: ch }),
      });
      events.push(stripeEvent('invoice.paid', bill, at));
      if (!one.isOld)
        events.push(stripeEvent('invoice_payment.paid', invoicePayment(`inpay_${index}`, inv, pi), at));
    }
    const session = checkout(`cs_${index}`, {
      mode: ofInvoice ? 'subscription' : 'payment',
      invoice: ofInvoice ? inv : null,
      payment_intent: ofInvoice ? null : pi,
      subscription: ofInvoice ? `sub_${one.user}` : null,
      customer,
      client_reference_id: one.named === 'customer' ? one.user : null,
      metadata,
      amount_total: amount,
      currency: 'usd',
      total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: one.tax },
      customer_details: { email },
    });
    if (!ofInvoice || isFirst || one.named === 'customer')
      events.push(stripeEvent('checkout.session.completed', session, at + 1));
    events.push(
      stripeEvent(
        'payment_intent.succeeded',
        intent(pi, amount, { customer, latest_charge: ch, ...older }),
        at,
      ),
      stripeEvent('charge.succeeded', charge(ch, amount, { customer, payment_intent: pi, ...older }), at),
    );
    let refunded = 0;
    for (const [nth, percent] of one.refunds.entries()) {
      refunded = Math.min(amount, refunded + Math.ceil((amount * percent) / 100));
      const fields = { customer, payment_intent: pi, amount_refunded: refunded, ...older };
      events.push(stripeEvent('charge.refunded', charge(ch, amount, fields), at + 100 + nth));
    }
    if (one.dispute) {
      const taken = Math.ceil((amount * one.dispute.percent) / 100);
      const [id, end] = [`dp_${index}`, one.dispute.end];
      events.push(stripeEvent('charge.dispute.created', dispute(id, ch, taken, 'needs_response'), at + 200));
      if (end !== 'open')
        events.push(stripeEvent('charge.dispute.closed', dispute(id, ch, taken, end), at + 300));
      if (end !== 'won') refunded = Math.min(amount, refunded + taken);
    }
    const id = `stripe:${ofInvoice ? inv : pi}`;
    byHand.push({
      at,
      id,
      refunded,
      order: {
        external_user_id: one.user,
        order_id: id,
        amount: amount / 100,
        commissionable_amount: one.amount / 100,
        is_renewal: ofInvoice && !isFirst,
        purchased_at: new Date(at * 1_000).toISOString(),
        email,
      },
    });
  }
  return { events, byHand };
}

/** Moves events about as the numbers say, and repeats some. */
function disordered(events: readonly StripeEvent[], shuffle: readonly number[], repeated: readonly number[]) {
  const keyed = events.map((event, index) => ({ event, key: shuffle[index] ?? 2_000 + index }));
  const sorted = keyed.sort((a, b) => a.key - b.key).map(({ event }) => event);
  return [...sorted, ...repeated.flatMap((index) => sorted[index % sorted.length] ?? [])];
}

async function enrolled(m: ReturnType<typeof merchant>, program: object) {
  await m.program(program);
  const r = await m.enroll('r', { email: 'r@own.example' });
  for (const user of ['n', 'm']) await m.signup(user, { ref_code: r.ref, email: `${user}@mail.example` });
  await m.signup('stranger', { email: 'stranger@mail.example' });
}

test('money by events equals money by hand', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ program, shuffle, repeated, ...given }) => {
      const { events, byHand } = tell(given);
      const shop = await stripeShop(api);
      await enrolled(shop, program);
      for (const event of disordered(events, shuffle, repeated)) {
        expect((await shop.send(event)).status).toBe(200);
        await shop.work();
      }
      expect((await shop.events('?status=failed')).map(({ reason }) => reason)).toEqual([]);

      const other = await api.addWorkspace();
      await enrolled(merchant(other), program);
      for (const { order, id, refunded } of byHand) {
        expect((await other.post('/referrals/report-purchase', order)).status).toBe(200);
        if (refunded === 0) continue;
        const refund = { refund_id: `refund of ${id}`, order_id: id, amount: refunded / 100 };
        expect((await other.post('/referrals/report-refund', refund)).status).toBe(200);
      }
      expect(await ledgerOf(api, shop.shop)).toEqual(await ledgerOf(api, other));
      const ids = [shop.shop.workspace.id, other.workspace.id];
      expect(await verifyLedger(api.stores.pool, ids)).toMatchObject({ ok: true, wrong: [] });
    }),
    { numRuns: RUNS, ...replayed },
  );
}, 600_000);
