import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { connectorOf } from '../../core/connections/connectors.ts';
import { parseExact } from '../../core/connections/exact-json.ts';
import { PROVIDERS } from '../../core/connections/providers.ts';
import { tiePayer } from '../../sql/connections/customers.ts';
import { insertEvent } from '../../sql/connections/events.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { processEvents } from '../../workers/connections/process-events.ts';
import { merchant } from '../referrals/support.ts';
import type { TestApi } from '../support/api.ts';
import { apiTest as test } from '../support/fixtures.ts';
import { workerDependencies } from './rig.ts';
import { COUPON, CUSTOMER, eventsOf, orderOf } from './story-events.ts';
import { CAN, expectedOf, type Story, type StoryPayment, stillRefunded } from './story-model.ts';

/**
 * Random stories of a customer at each of the five providers: a trial, invoices, intents, joins, customer updates, an import,
 * a coupon, refunds that fail or that a report by hand tells of too, disputes, and a connection that is made again. Events
 * come in random order and some twice. The end equals a model that knows no events.
 */

/**
 * How many stories each run plays. The nightly run plays 500 of a new seed; another one plays the same each time, so that a
 * change is not refused for a story that failed before it.
 */
const RUNS = Number(process.env.CONNECTION_STORIES ?? 100);
const SEED = Number(
  process.env.HISTORY_SEED ?? (process.env.CONNECTION_STORIES ? randomInt(2 ** 31) : 20_261_129),
);

const states = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 10 }) }, fc.constant('failed' as const)),
    {
      maxLength: 3,
    },
  )
  .map((parts) => {
    let sum = 0;
    let last = 0;
    return parts.flatMap((part): StoryPayment['refunds'] => {
      if (part === 'failed') {
        if (last === 0) return [];
        sum -= last;
        last = 0;
        return ['failed'];
      }
      last = part * 500;
      sum += last;
      return [sum];
    });
  });

const payment: fc.Arbitrary<StoryPayment> = fc.record({
  amount: fc.integer({ min: 40, max: 90 }).map((units) => units * 500),
  email: fc.constantFrom('own', 'other', 'none'),
  isNamed: fc.constantFrom(false, false, false, true),
  hasCoupon: fc.constantFrom(false, false, true),
  joined: fc.constantFrom('invoice', 'invoice_payment', 'checkout', 'never'),
  refunds: states,
  dispute: fc.constantFrom('none', 'none', 'none', 'open', 'won', 'lost'),
  isToldByHand: fc.boolean(),
});

/** Leaves out what the provider's events can't tell. */
function possible(story: Story): Story {
  const can = CAN[story.provider];
  return {
    ...story,
    tie: story.tie === 'event' && !can.tie ? 'import' : story.tie,
    hasTrial: story.hasTrial && can.trial,
    payments: story.payments.map((one) => ({
      ...one,
      hasCoupon: one.hasCoupon && can.coupon && !story.isFirstSaleOnly,
      // A charge that nothing joins to its invoice has no dispute of that.
      dispute: can.dispute && one.joined !== 'never' ? one.dispute : 'none',
    })),
  };
}

const story = fc.record({
  story: fc
    .record({
      provider: fc.constantFrom('stripe' as const, ...PROVIDERS),
      tie: fc.constantFrom('none', 'none', 'none', 'event', 'import'),
      isFirstSaleOnly: fc.boolean(),
      hasTrial: fc.constantFrom(false, false, true),
      payments: fc.array(payment, { minLength: 1, maxLength: 3 }),
      remadeAfter: fc.option(fc.nat({ max: 8 })),
    } satisfies { [field in keyof Story]: fc.Arbitrary<Story[field]> })
    .map(possible),
  shuffle: fc.array(fc.nat({ max: 1_000 }), { maxLength: 30 }),
  repeated: fc.array(fc.nat({ max: 1_000 }), { maxLength: 4 }),
});

const PLAIN = {
  isNamed: false,
  hasCoupon: false,
  refunds: [],
  dispute: 'none',
  isToldByHand: false,
} as const;
/** The checkout has another email than the invoice, and is told of first. */
const TWO_EMAILS = {
  story: {
    provider: 'stripe' as const,
    tie: 'none' as const,
    isFirstSaleOnly: false,
    hasTrial: false,
    payments: (['checkout', 'invoice'] as const).map((joined) => ({
      ...PLAIN,
      refunds: [],
      amount: 20_000,
      email: 'own' as const,
      joined,
    })),
    remadeAfter: null,
  },
  shuffle: [1, 1, 0],
  repeated: [],
};

/** Moves events about as the numbers say, and repeats some. */
function disordered<T>(events: readonly T[], shuffle: readonly number[], repeated: readonly number[]): T[] {
  const keyed = events.map((event, index) => ({ event, key: shuffle[index] ?? 2_000 + index }));
  const sorted = keyed.sort((a, b) => a.key - b.key).map(({ event }) => event);
  return [...sorted, ...repeated.flatMap((index) => sorted[index % sorted.length] ?? [])];
}

/** Plays a story, and compares its end with the model's. */
async function play(
  api: TestApi,
  { story: told, shuffle, repeated }: { story: Story; shuffle: number[]; repeated: number[] },
) {
  const { pool } = api.stores;
  const dependencies = workerDependencies(api);
  const { provider } = told;
  const connector = connectorOf(provider);
  const shop = await api.addWorkspace();
  const m = merchant(shop);
  const terms = { commission_rate: 20, hold_days: 0, first_sale_only: told.isFirstSaleOnly };
  const { programId } = await m.referral(terms, { email: 'n@mail.example' });
  await m.enroll('r2', { program_id: programId });
  if (told.payments.some(({ hasCoupon }) => hasCoupon))
    await shop.post('/coupons', { code: COUPON, external_user_id: 'r2' });
  const connect = async () =>
    (await shop.post<{ id: string }>('/connections', { provider, signing_secret: 'whsec_1' })).body.id;
  let connection = await connect();
  if (told.tie === 'import')
    await inTransaction(pool, (tx) =>
      tiePayer(
        tx,
        { workspace_id: shop.workspace.id, provider },
        {
          payer: { customer: CUSTOMER[provider], subscription: null },
          buyer: { externalUserId: 'n', visitorId: null, reference: null },
        },
        { eventId: 'import', connectionId: null, at: new Date() },
      ),
    );
  for (const [index, { body, headers }] of disordered(eventsOf(told), shuffle, repeated).entries()) {
    if (index === told.remadeAfter) {
      await shop.delete(`/connections/${connection}`);
      connection = await connect();
    }
    const { eventId, type } = connector.envelope(parseExact(body), headers);
    await inTransaction(pool, (tx) =>
      insertEvent(tx, {
        workspaceId: shop.workspace.id,
        connectionId: connection,
        eventId,
        type,
        customerKey: null,
        body,
      }),
    );
    while (await processEvents(dependencies)) {}
  }
  const expected = expectedOf(told);
  for (const [index, { isToldByHand, refunds, dispute }] of told.payments.entries()) {
    const [first] = refunds;
    // The provider tells of one refund, and the report by hand is the same.
    if (!isToldByHand || refunds.length !== 1 || typeof first !== 'number' || dispute !== 'none') continue;
    const order = orderOf(told, index);
    expect((await m.refund(`by hand ${index}`, order, stillRefunded(refunds) / 100)).status).toBe(200);
  }
  const { rows } = await pool.query(
    `SELECT o.amount_minor AS amount,
       (SELECT external_user_id FROM enrollments e WHERE e.id = p.enrollment_id) AS referrer,
       (SELECT coalesce(sum(amount_minor), 0)::int FROM refunds r WHERE r.order_internal_id = o.internal_id) AS refunded,
       (SELECT coalesce(sum(amount), 0)::int FROM ledger_entries l JOIN commissions c ON c.id = l.commission_id
        WHERE c.order_internal_id = o.internal_id) AS earned
     FROM orders o LEFT JOIN purchases p ON p.order_internal_id = o.internal_id
     WHERE o.workspace_id = $1 AND o.same_as IS NULL ORDER BY o.ts, o.internal_id`,
    [shop.workspace.id],
  );
  expect(
    rows.map(({ amount, refunded, referrer, earned }) => ({ amount, refunded, referrer, earned })),
  ).toEqual(expected);
  for (const referrer of ['r', 'r2'] as const) {
    const earned = expected.reduce((sum, one) => sum + (one.referrer === referrer ? one.earned : 0), 0);
    expect((await m.balance(referrer)).eligible).toBe(earned / 100);
  }
  expect(await verifyLedger(pool, [shop.workspace.id])).toMatchObject({ ok: true, wrong: [] });
}

/** Stories played at the same time, as most of the time of each is waiting for the database. */
const AT_ONCE = Number(process.env.STORIES_AT_ONCE ?? 4);

test(`${RUNS} stories of a customer come to what the model says, in any order`, async ({ api }) => {
  const runs = Array.from({ length: AT_ONCE }, (_, nth) =>
    fc.assert(
      fc.asyncProperty(story, (given) => play(api, given)),
      {
        numRuns: Math.ceil(RUNS / AT_ONCE),
        examples: nth === 0 ? [[TWO_EMAILS]] : [],
        seed: SEED + nth,
        // To count how many stories find a fault.
        endOnFailure: process.env.STORIES_COUNT !== undefined,
      },
    ),
  );
  await Promise.all(runs);
}, 900_000);
