import fc from 'fast-check';
import { expect } from 'vitest';
import { importReferrals } from '../../api/referrals/import/import-referrals.ts';
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
  stripeObject,
} from '../../core/connections/stripe/fixtures/events.ts';
import { REFERRAL_FORMATS } from '../../core/referral-imports/formats/known.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { referrerOfCoupon } from '../../sql/referrals/coupons.ts';
import { latestProgram } from '../../sql/referrals/programs.ts';
import { type PurchaseReport, recordPurchase } from '../../sql/transactions/record-purchase.ts';
import { merchant } from '../referrals/support.ts';
import type { TestApi, TestWorkspace } from '../support/api.ts';
import { apiTest } from '../support/fixtures.ts';
import { ago, ledgerOf, stripeShop } from './rig.ts';

/**
 * A history of purchases is reported twice: by Stripe's events, in any order and more than once, and by hand in the
 * order of its times. Both must end with the same purchases and balances. Payments may use the coupon of the referrer
 * `owner`. In the shop that receives events, referrers and customers may have come by an import.
 */

/** How many random histories each run plays; CONNECTION_HISTORIES=500 plays more. */
const RUNS = Number(process.env.CONNECTION_HISTORIES ?? 10);
/** Coupons and imports are played only when more histories are requested. */
const isWide = process.env.CONNECTION_HISTORIES !== undefined;
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
  /** Which object names the buyer. */
  named: fc.constantFrom('metadata', 'customer', 'email'),
  refunds: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 2 }),
  dispute: fc.option(
    fc.record({ percent: fc.integer({ min: 1, max: 100 }), end: fc.constantFrom('open', 'won', 'lost') }),
  ),
  /** An API version before 2025-03-31. */
  isOld: fc.boolean(),
  hasCoupon: isWide ? fc.constantFrom(false, false, true) : fc.constant(false),
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
  isImported: isWide ? fc.boolean() : fc.constant(false),
  payments: fc.array(payment, { minLength: 1, maxLength: 5 }),
  /** The order in which events arrive. Events beyond its length arrive in their own order. */
  shuffle: fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 }),
  repeated: fc.array(fc.nat({ max: 1_000 }), { maxLength: 6 }),
});

type Told = { events: StripeEvent[]; byHand: ByHand[] };
type ByHand = {
  order: Omit<PurchaseReport, 'coupon'>;
  refunded: number;
  /** Null: it used no coupon. `yields`: a referrer of the buyer has priority. */
  coupon: { yields: boolean } | null;
};

/** Returns the history as Stripe's events, and as reports by hand. */
function tell({ payments, hasTrial }: { payments: Payment[]; hasTrial: boolean }): Told {
  const events: StripeEvent[] = [];
  const byHand: Told['byHand'] = [];
  const subscribed = new Set<string>();
  /** Users whom an event ties to their customer. */
  const tied = new Set<string>();
  if (payments.some(({ hasCoupon }) => hasCoupon)) {
    const code = stripeObject('promotion_code', { id: 'promo_1', code: 'ANNA20' });
    events.push(stripeEvent('promotion_code.created', code, ago(70 * HOUR)));
  }
  for (const [index, one] of payments.entries()) {
    const at = ago(60 * HOUR - index * HOUR);
    const amount = one.amount + one.tax;
    const [pi, ch, inv] = [`pi_${index}`, `ch_${index}`, `in_${index}`];
    const customer = `cus_${one.user}`;
    const metadata = one.named === 'metadata' ? { hoplog_user_id: one.user } : {};
    const email = `${one.user}@mail.example`;
    const ofInvoice = one.kind === 'invoice';
    const discounts = one.hasCoupon ? [{ promotion_code: 'promo_1' }] : [];
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
        discounts,
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
      discounts,
    });
    if (!ofInvoice || isFirst || one.named === 'customer') {
      events.push(stripeEvent('checkout.session.completed', session, at + 1));
      if (one.named !== 'email') tied.add(one.user);
    }
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
    byHand.push({
      refunded,
      coupon: one.hasCoupon ? { yields: one.named === 'metadata' } : null,
      order: {
        orderId: `stripe:${ofInvoice ? inv : pi}`,
        externalUserId: one.user,
        email,
        amountMinor: amount,
        commissionableMinor: one.amount,
        currency: 'usd',
        isRenewal: ofInvoice && !isFirst,
        purchasedAt: new Date(at * 1_000),
      },
    });
  }
  for (const { coupon, order } of byHand)
    if (coupon && tied.has(order.externalUserId ?? '')) coupon.yields = true;
  // A renewal of an order that a coupon brought belongs to the coupon's owner, unless something names the buyer.
  const bringers = new Map<string, ByHand['coupon']>();
  for (const [index, one] of byHand.entries()) {
    const user = one.order.externalUserId ?? '';
    const isNamed = payments[index]?.named === 'metadata' || tied.has(user);
    const before = bringers.get(user);
    if (!one.coupon && one.order.isRenewal && !isNamed && before && !before.yields) one.coupon = before;
    bringers.set(user, one.coupon);
  }
  return { events, byHand };
}

/** Reorders events as the numbers say, and repeats some. */
function disordered(events: readonly StripeEvent[], shuffle: readonly number[], repeated: readonly number[]) {
  const keyed = events.map((event, index) => ({ event, key: shuffle[index] ?? 2_000 + index }));
  const sorted = keyed.sort((a, b) => a.key - b.key).map(({ event }) => event);
  return [...sorted, ...repeated.flatMap((index) => sorted[index % sorted.length] ?? [])];
}

async function enrolled(m: ReturnType<typeof merchant>, program: object) {
  await m.program(program);
  const r = await m.enroll('r', { email: 'r@own.example' });
  await m.enroll('owner', { email: 'owner@own.example' });
  for (const user of ['n', 'm']) await m.signup(user, { ref_code: r.ref, email: `${user}@mail.example` });
  await m.signup('stranger', { email: 'stranger@mail.example' });
}

/** The same, from the files of another program. */
async function imported(
  api: TestApi,
  m: ReturnType<typeof merchant>,
  { workspace }: TestWorkspace,
  program: object,
) {
  await m.program(program);
  const { pool } = api.stores;
  const found = await latestProgram(pool, workspace.id);
  const format = REFERRAL_FORMATS.csv;
  if (!found || !format) throw new Error('no program or format');
  const files = {
    partners: 'partner_id,external_user_id,email\n1,r,r@own.example\n2,owner,owner@own.example',
    customers: 'customer_id,customer_email,partner_id\nn,n@mail.example,1\nm,m@mail.example,1',
  };
  const { errors } = await importReferrals({
    pool,
    workspace,
    program: found,
    from: 'csv',
    format,
    dryRun: false,
    now: new Date(),
    by: 'operator',
    files: Object.entries(files).map(([name, text]) => ({
      name,
      form: { delimiter: ',', firstLine: 1 },
      async *text() {
        yield text;
      },
    })),
  });
  expect(errors).toEqual([]);
  await m.signup('stranger', { email: 'stranger@mail.example' });
}

/** Reports a purchase by hand. No call reports a coupon: such an order is written as a connector does. */
async function report(api: TestApi, shop: TestWorkspace, { order, coupon }: ByHand): Promise<void> {
  if (coupon === null) {
    const body = {
      external_user_id: order.externalUserId,
      order_id: order.orderId,
      amount: order.amountMinor / 100,
      commissionable_amount: order.commissionableMinor / 100,
      is_renewal: order.isRenewal,
      purchased_at: order.purchasedAt.toISOString(),
      email: order.email,
    };
    expect((await shop.post('/referrals/report-purchase', body)).status).toBe(200);
    return;
  }
  await inTransaction(api.stores.pool, async (tx) => {
    const used = await referrerOfCoupon(tx, shop.workspace.id, ['ANNA20']);
    if (!used) throw new Error('no coupon ANNA20');
    await recordPurchase(tx, shop.workspace, { ...order, coupon: { coupon: used, ...coupon } }, new Date());
  });
}

apiTest(
  'money by events equals money by hand',
  async ({ api }) => {
    await fc.assert(
      fc.asyncProperty(history, async ({ program, shuffle, repeated, isImported, ...given }) => {
        const { events, byHand } = tell(given);
        const shop = await stripeShop(api);
        const other = await api.addWorkspace();
        if (isImported) await imported(api, shop, shop.shop, program);
        else await enrolled(shop, program);
        await enrolled(merchant(other), program);
        for (const one of [shop.shop, other])
          await one.post('/coupons', { code: 'anna20', external_user_id: 'owner' });
        for (const event of disordered(events, shuffle, repeated)) {
          expect((await shop.send(event)).status).toBe(200);
          await shop.work();
        }
        expect((await shop.events('?status=failed')).map(({ reason }) => reason)).toEqual([]);

        for (const one of byHand) {
          await report(api, other, one);
          if (one.refunded === 0) continue;
          const { orderId } = one.order;
          const refund = { refund_id: `refund of ${orderId}`, order_id: orderId, amount: one.refunded / 100 };
          expect((await other.post('/referrals/report-refund', refund)).status).toBe(200);
        }
        expect(await ledgerOf(api, shop.shop)).toEqual(await ledgerOf(api, other));
        const ids = [shop.shop.workspace.id, other.workspace.id];
        expect(await verifyLedger(api.stores.pool, ids)).toMatchObject({ ok: true, wrong: [] });
      }),
      { numRuns: RUNS, ...replayed },
    );
  },
  600_000,
);
