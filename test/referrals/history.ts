import fc from 'fast-check';
import { story } from './stories.ts';

/** Histories of a referral program: random actions in random order, each possibly repeated. */

export const USERS = 9;
/** Users whose numbers have the same remainder are one person with one mailbox, under plus tags. */
export const PERSONS = 5;
/** The second one pays yen, the others dollars. */
export const PROGRAMS = 3;
/** Groups by the number of their program. */
export const GROUPS = [0, 0, 1, 2] as const;
const ORDERS = 7;
const REFUNDS = 12;

/** The terms of a program, in the words of the API. */
export type Terms = {
  status: 'active' | 'paused';
  credit_enabled: boolean;
  signup_credit: { free: number; paid: number };
  purchase_credit: number;
  referee_credit: number;
  commission_type: 'percent' | 'flat';
  commission_rate: number;
  levels: number[];
  first_sale_only: boolean;
  commission_months: number | null;
  hold_days: number;
  min_payout: number;
  review: 'none' | 'signups' | 'rewards';
  signups_from: 'any' | 'server';
  max_signups_per_day: number | null;
  revoke_credits_on_refund: boolean;
};

/** The terms of a partner group, in the words of the API. */
export type GroupTerms = {
  commission_type: 'percent' | 'flat' | null;
  commission_rate: number | null;
  hold_days: number | null;
  min_payout: number | null;
};

export type Action =
  | { type: 'enroll'; user: number; program: number; tier: 'free' | 'paid'; times: number }
  /** `referrer`: null says that no one referred the user; when left out, the report says nothing about it. */
  | { type: 'signup'; user: number; referrer?: number | null; byServer: boolean; times: number }
  /** Index into the signups so far (modulo their number). */
  | { type: 'review'; nth: number; decision: 'approve' | 'reject' }
  | { type: 'reevaluate'; order: number; times: number }
  /** The operator sets the rates of the foreign currency. */
  | { type: 'rates' }
  | {
      type: 'purchase';
      user: number;
      order: number;
      /** Cents. */
      amount: number;
      /** Cents; null: all of the amount. */
      commissionable: number | null;
      isRenewal: boolean;
      /** In a currency that has no rate at first. */
      isForeign: boolean;
      /** Days from now; none in the future. */
      day: number;
      withEmail: boolean;
      times: number;
    }
  /** The pixel reports the order, without a user. `amount`: cents. */
  | { type: 'pixel'; order: number; amount: number; times: number }
  /** `amount`: cents; null: the remainder. */
  | { type: 'refund'; refund: number; order: number; amount: number | null; times: number }
  | { type: 'mode'; user: number; mode: 'referrer' | 'affiliate'; times: number }
  | { type: 'status'; user: number; status: 'approved' | 'suspended'; times: number }
  /** Index into the grants so far (modulo their number). */
  | { type: 'deliver'; nth: number; times: number }
  /** The hold-period job, as it runs that many days from now. */
  | { type: 'tick'; day: number }
  /** `until`: days from now; null: everything. */
  | { type: 'export'; until: number | null; includeOpen: boolean }
  /**
   * Index into the exports so far (modulo their number), newest first. `only`: pays this user's line alone; null: all.
   */
  | { type: 'pay'; nth: number; only: number | null; times: number }
  | { type: 'fail'; nth: number; user: number; times: number }
  | { type: 'retry'; nth: number; user: number; times: number }
  | { type: 'cancel'; nth: number; times: number }
  /** A server sets the payout address, or a page a new one. */
  | { type: 'address'; user: number; byServer: boolean; times: number }
  /** A bonus, or a claw-back: minor units of the referrer's program. */
  | { type: 'manual'; user: number; amount: number }
  /** Index into the commissions of sales so far, by order and level. */
  | { type: 'reject'; order: number; level: number; times: number }
  /** Index into the grants so far (modulo their number). */
  | { type: 'revoke'; nth: number; times: number }
  | { type: 'move'; user: number; program: number; times: number }
  /** The merchant deletes the referrer. */
  | { type: 'erase'; user: number }
  /** The operator erases the person by email. */
  | { type: 'forget'; user: number }
  /** Own percentage of a referrer; null: none. */
  | { type: 'own'; user: number; rate: number | null; times: number }
  /** The merchant changes the terms of a group. Null: the program's. */
  | { type: 'group'; group: number; terms: GroupTerms; times: number }
  /** `group` null: into none. */
  | { type: 'join'; user: number; group: number | null; times: number }
  /** The merchant deletes a group, and creates another one of its name. */
  | { type: 'dissolve'; group: number }
  | { type: 'terms'; program: number; terms: Terms }
  /**
   * Files of another program: a referrer, a customer of theirs, and an unpaid commission in minor units of the program,
   * due at once or in forty days.
   */
  | {
      type: 'import';
      user: number;
      customer: number;
      program: number;
      amount: number;
      isDue: boolean;
      times: number;
    };

/** Mostly users that every history begins with. */
const user = fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 0, max: 4 }) }, fc.nat(USERS - 1));
const times = fc.constantFrom(1, 1, 1, 3);
const credits = fc.integer({ min: 0, max: 2_000 }).map((hundredths) => hundredths / 100);

export const terms: fc.Arbitrary<Terms> = fc
  .record({
    status: fc.constantFrom(...Array<'active'>(7).fill('active'), 'paused') as fc.Arbitrary<Terms['status']>,
    credit_enabled: fc.boolean(),
    signup_credit: fc.record({ free: credits, paid: credits }),
    purchase_credit: credits,
    referee_credit: credits,
    commission_type: fc.constantFrom('percent', 'percent', 'flat') as fc.Arbitrary<Terms['commission_type']>,
    commission_rate: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 40 }) }, fc.constant(0)),
    levels: fc.array(fc.nat(20), { maxLength: 3, size: 'max' }),
    first_sale_only: fc.constantFrom(false, false, false, true),
    commission_months: fc.constantFrom(null, null, 1),
    hold_days: fc.constantFrom(0, 30),
    min_payout: fc.constantFrom(0, 5),
    review: fc.constantFrom(...Array<'none'>(6).fill('none'), 'signups', 'rewards') as fc.Arbitrary<
      Terms['review']
    >,
    signups_from: fc.constantFrom(...Array<'any'>(9).fill('any'), 'server') as fc.Arbitrary<
      Terms['signups_from']
    >,
    max_signups_per_day: fc.constantFrom(null, null, null, null, 1, 2),
    revoke_credits_on_refund: fc.constantFrom(true, true, false),
  })
  // Fractions of a percent produce halves of a cent; an amount of yen has none.
  .chain((whole) =>
    whole.commission_type === 'flat'
      ? fc.constant(whole)
      : fc
          .constantFrom(0, 0.5, 0.25)
          .map((part) => ({ ...whole, commission_rate: whole.commission_rate + part })),
  );

const groupTerms: fc.Arbitrary<GroupTerms> = fc
  .record({
    commission_type: fc.constantFrom('percent' as const, 'percent' as const, 'flat' as const, null),
    rate: fc.integer({ min: 0, max: 60 }),
    hold_days: fc.constantFrom(null, null, 0, 14, 60),
    min_payout: fc.constantFrom(null, null, 0, 3, 20),
  })
  .map(({ rate, ...terms }) => ({ ...terms, commission_rate: terms.commission_type === null ? null : rate }));

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('enroll' as const),
      user,
      program: fc.nat(PROGRAMS - 1),
      tier: fc.constantFrom('free' as const, 'paid' as const),
      times,
    }),
  },
  {
    weight: 7,
    arbitrary: fc
      .record({
        type: fc.constant('signup' as const),
        user,
        referrer: fc.oneof({ weight: 5, arbitrary: user }, fc.constantFrom(null, undefined)),
        byServer: fc.boolean(),
        times,
      })
      .map(({ referrer, ...rest }) => (referrer === undefined ? rest : { ...rest, referrer })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('review' as const),
      nth: fc.nat(9),
      decision: fc.constantFrom('approve' as const, 'reject' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('reevaluate' as const), order: fc.nat(ORDERS - 1), times }),
  },
  {
    weight: 12,
    arbitrary: fc
      .record({
        type: fc.constant('purchase' as const),
        user,
        order: fc.nat(ORDERS - 1),
        amount: fc.oneof(fc.constant(0), { weight: 9, arbitrary: fc.integer({ min: 1, max: 50_000 }) }),
        part: fc.constantFrom(null, null, null, 0, 0.5, 1),
        isRenewal: fc.constantFrom(false, false, true),
        isForeign: fc.constantFrom(false, false, false, true),
        day: fc.constantFrom(0, 0, -20, -40, -60, -120),
        withEmail: fc.constantFrom(false, false, true),
        times,
      })
      .map(({ part, ...rest }) => ({
        ...rest,
        commissionable: part === null ? null : Math.floor(rest.amount * part),
      })),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('pixel' as const),
      order: fc.nat(ORDERS - 1),
      amount: fc.integer({ min: 0, max: 30_000 }),
      times,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('refund' as const),
      refund: fc.nat(REFUNDS - 1),
      order: fc.nat(ORDERS - 1),
      amount: fc.oneof(fc.constant(null), { weight: 3, arbitrary: fc.integer({ min: 1, max: 20_000 }) }),
      times,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('mode' as const),
      user,
      mode: fc.constantFrom('referrer' as const, 'affiliate' as const),
      times,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('status' as const),
      user,
      status: fc.constantFrom('approved' as const, 'suspended' as const),
      times,
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('deliver' as const), nth: fc.nat(20), times }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('tick' as const), day: fc.constantFrom(5, 15, 35) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('export' as const),
      until: fc.constantFrom(null, null, null, -10, -30),
      includeOpen: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rates' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('move' as const),
      user,
      program: fc.constantFrom(0, 0, 2, 2, 1),
      times,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('erase' as const), user }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('forget' as const), user }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('pay' as const),
      nth: fc.nat(2),
      only: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, user),
      times,
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('fail' as const), nth: fc.nat(2), user, times }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('retry' as const), nth: fc.nat(2), user, times }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel' as const), nth: fc.nat(2), times }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('address' as const), user, byServer: fc.boolean(), times }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('manual' as const),
      user,
      amount: fc.integer({ min: -2_000, max: 4_000 }).filter((amount) => amount !== 0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('reject' as const),
      order: fc.nat(ORDERS - 1),
      level: fc.constantFrom(1, 1, 2),
      times,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('revoke' as const), nth: fc.nat(20), times }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('own' as const),
      user,
      rate: fc.oneof(fc.constant(null), { weight: 2, arbitrary: fc.integer({ min: 0, max: 60 }) }),
      times,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('group' as const),
      group: fc.nat(GROUPS.length - 1),
      terms: groupTerms,
      times,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('join' as const),
      user,
      group: fc.oneof({ weight: 4, arbitrary: fc.nat(GROUPS.length - 1) }, fc.constant(null)),
      times,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('dissolve' as const), group: fc.nat(GROUPS.length - 1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('import' as const),
      user,
      customer: user,
      program: fc.constantFrom(0, 0, 2, 1),
      amount: fc.integer({ min: 1, max: 9_000 }),
      isDue: fc.boolean(),
      times,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('terms' as const), program: fc.nat(PROGRAMS - 1), terms }),
  },
);

export type History = { programs: Terms[]; actions: Action[] };

/** A history that begins with some enrollments and signups, so that most later actions have an effect. */
export const history: fc.Arbitrary<History> = fc.record({
  programs: fc.array(terms, { minLength: PROGRAMS, maxLength: PROGRAMS }),
  actions: fc
    .tuple(
      fc.array(fc.constantFrom(0, 0, 2, 1), { minLength: 4, maxLength: 4 }),
      fc.array(
        fc.oneof({ weight: 14, arbitrary: action.map((one) => [one]) }, { weight: 1, arbitrary: story }),
        { minLength: 12, maxLength: 32, size: 'max' },
      ),
    )
    .map(([programs, actions]): Action[] => [
      ...programs.map(
        (program, number): Action => ({
          type: 'enroll',
          user: number,
          program,
          tier: 'free',
          times: 1,
        }),
      ),
      ...[0, 1, 2, 3].map((number): Action => ({ type: 'address', user: number, byServer: true, times: 1 })),
      ...[1, 2, 3, 4].map(
        (number): Action => ({
          type: 'signup',
          user: number,
          referrer: number - 1,
          byServer: number % 2 === 0,
          times: 1,
        }),
      ),
      ...actions.flat(),
    ]),
});
