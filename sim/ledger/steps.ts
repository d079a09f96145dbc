import fc from 'fast-check';
import { type Action, type History as Actions, history, type Terms } from '../../test/referrals/history.ts';
import { story } from '../../test/referrals/stories.ts';
import type { History } from '../history.ts';
import { type NetworkFaults, NO_NETWORK_FAULTS } from '../world/network.ts';
import { Random } from '../world/random.ts';

/** What may happen to a referral program and its API. */
export type Step =
  | { do: 'act'; action: Action }
  /** At the same time, from several clients. */
  | { do: 'together'; actions: readonly Action[] }
  | { do: 'kill API'; afterCalls: number }
  | { do: 'pause API'; ms: number; afterCalls: number }
  | { do: 'lose calls'; requests: number; answers: number }
  | { do: 'break network'; faults: NetworkFaults }
  | { do: 'mend network' }
  | { do: 'restart PostgreSQL'; afterMs: number }
  | { do: 'keep standby' }
  | { do: 'fail over'; downMs: number };

export type LedgerOptions = {
  /** Whether actions run at the same time, so that no model knows their order. */
  together: boolean;
  /** All actions, only those that move money, or stories: a sale or a grant, and what happens to it. */
  actions: 'all' | 'money' | 'stories';
  kills: boolean;
  pauses: boolean;
  lostCalls: boolean;
  networkFaults: boolean;
  postgresFaults: boolean;
  /** PostgreSQL goes back to what a standby has, so that no model knows what is left. */
  failovers: boolean;
};

export type LedgerHistory = History<Step> & { options: LedgerOptions; programs: readonly Terms[] };

/** Enrollments, addresses, and first signups, with which every history of actions begins. */
const FIRST_ACTIONS = 12;

/**
 * What a client can repeat until it gets an answer. The others differ when they are repeated, or are commands of an
 * operator beside the API.
 */
const isRepeatable = ({ type }: Action) =>
  type !== 'review' && type !== 'erase' && type !== 'forget' && type !== 'import' && type !== 'dissolve';

const MONEY: ReadonlySet<Action['type']> = new Set([
  'purchase',
  'refund',
  'tick',
  'export',
  'pay',
  'fail',
  'retry',
  'manual',
  'reject',
  'deliver',
  'revoke',
]);

/** When the job of hold periods runs: also some hours before a period is over, and after. Days from now. */
const TICK_DAYS = [5, 9.7, 10.3, 15, 29.7, 30.3, 35];

/** Decides a history. Each switches whole kinds of faults off, so that rare ones meet in some. */
export function decide(seed: number): LedgerHistory {
  const random = new Random(seed);
  const options: LedgerOptions = {
    together: random.chance(0.3),
    actions: random.pick<LedgerOptions['actions']>(['all', 'money', 'stories', 'stories', 'stories']),
    kills: random.chance(0.6),
    pauses: random.chance(0.3),
    lostCalls: random.chance(0.5),
    networkFaults: random.chance(0.4),
    postgresFaults: random.chance(0.3),
    failovers: false,
  };
  options.failovers = options.together && random.chance(0.4);
  // Half of the histories have no fault of a machine, and so play more actions in the same time.
  if (random.chance(0.5)) {
    const none = { kills: false, pauses: false, networkFaults: false, postgresFaults: false };
    Object.assign(options, { ...none, lostCalls: random.chance(0.3) });
  }
  const isStories = options.actions === 'stories';
  const samples = fc.sample(history, { numRuns: 3, seed }) as [Actions, Actions, Actions];
  const programs = isStories
    ? samples[0].programs.map((terms) => paying(random, terms))
    : samples[0].programs;
  const actions = isStories
    ? [...samples[0].actions.slice(0, FIRST_ACTIONS), ...decideStories(random)].filter(isRepeatable)
    : decideActions(random, samples, options);
  const steps: Step[] = actions.slice(0, FIRST_ACTIONS).map((action) => ({ do: 'act', action }));
  let rest = actions.slice(FIRST_ACTIONS);
  const [keptAt, backAt] = [random.integer(0, rest.length), random.integer(0, rest.length)].sort(
    (a, b) => a - b,
  );
  const all = rest.length;
  while (rest.length > 0) {
    const passes = (at: number | undefined) =>
      options.failovers && at !== undefined && all - rest.length >= at;
    if (passes(keptAt) && !steps.some((step) => step.do === 'keep standby'))
      steps.push({ do: 'keep standby' });
    else if (passes(backAt) && !steps.some((step) => step.do === 'fail over'))
      steps.push({ do: 'fail over', downMs: random.between(100, 6_000) });
    if (random.chance(0.5)) steps.push(...decideFault(random, options));
    const count = options.together ? random.integer(1, 4) : 1;
    const [first, ...others] = rest.slice(0, count);
    if (!first) break;
    steps.push(
      others.length === 0 ? { do: 'act', action: first } : { do: 'together', actions: [first, ...others] },
    );
    rest = rest.slice(count);
  }
  return { seed, options, programs, steps };
}

/** Chooses the actions of a history: those of one sample, or what moves money of three. Some happen again later. */
function decideActions(
  random: Random,
  samples: readonly [Actions, ...Actions[]],
  options: LedgerOptions,
): Action[] {
  const first = samples[0].actions.slice(0, FIRST_ACTIONS);
  const rest =
    options.actions === 'money'
      ? samples.flatMap(({ actions }) => actions.slice(FIRST_ACTIONS).filter(({ type }) => MONEY.has(type)))
      : samples[0].actions.slice(FIRST_ACTIONS);
  const actions: Action[] = [];
  const orders: number[] = [];
  for (const given of rest) {
    const action = { ...given };
    if (action.type === 'tick') action.day = random.pick(TICK_DAYS);
    if (action.type === 'purchase') orders.push(action.order);
    if (action.type === 'refund' && orders.length > 0 && random.chance(0.7))
      action.order = random.pick(orders);
    actions.push(action);
    const isAgain = action.type === 'purchase' || action.type === 'refund' || action.type === 'pay';
    if (isAgain && random.chance(0.3)) actions.splice(random.integer(0, actions.length), 0, action);
  }
  return [...first, ...actions].filter(isRepeatable);
}

const HOLD_DAYS = 30;
/** Runs of the job a few hours before and after the hold period of a sale ends, by the day of the sale. */
const AROUND_THE_END: Readonly<Record<number, readonly number[]>> = { 0: [29.7, 30.3], [-20]: [9.7, 10.3] };

/** Terms in which sales and signups earn. */
const paying = (random: Random, terms: Terms): Terms => ({
  ...terms,
  status: 'active',
  credit_enabled: true,
  commission_rate: Math.max(10, terms.commission_rate),
  first_sale_only: false,
  commission_months: null,
  hold_days: random.pick([0, HOLD_DAYS, HOLD_DAYS]),
  min_payout: 0,
  review: 'none',
  signups_from: 'any',
  max_signups_per_day: null,
});

/** Parts of an order that are refunded, so that shares are rounded. Cents. */
const PARTS = [1, 33, 50, 333];

/** Returns what happens to a few sales and grants, each in the order of its story, some at the same time. */
function decideStories(random: Random): Action[] {
  const sales = fc.sample(story, { numRuns: random.integer(1, 3), seed: random.integer(1, 2 ** 31 - 1) });
  const stories = sales.map((sale) => decideSale(random, sale));
  for (let more = random.integer(0, 2); more > 0; more--) stories.push(decideGrant(random));
  const actions: Action[] = [];
  while (stories.length > 0) {
    const one = random.pick(stories);
    actions.push(...one.splice(0, random.integer(1, 3)));
    if (one.length === 0) stories.splice(stories.indexOf(one), 1);
  }
  return actions;
}

/** A sale as it is, or one whose hold period ends in the history, or that is refunded in parts. */
function decideSale(random: Random, sale: readonly Action[]): Action[] {
  const actions = sale.map((action) => ({ ...action }));
  const at = actions.findIndex(({ type }) => type === 'purchase');
  const purchase = actions[at];
  if (purchase?.type !== 'purchase') return actions;
  const { order } = purchase;
  if (random.chance(0.4)) {
    purchase.day = random.pick([0, -20]);
    const ticks = AROUND_THE_END[purchase.day] ?? [];
    const some = ticks.slice(0, random.integer(1, 2));
    actions.splice(at + 1, 0, ...some.map((day): Action => ({ type: 'tick', day })));
  }
  if (random.chance(0.4)) {
    const refunds = Array.from({ length: random.integer(1, 3) }, (_, nth): Action => {
      const amount = random.chance(0.3) ? null : random.pick(PARTS);
      return { type: 'refund', refund: order + 2_000 + nth, order, amount, times: 1 };
    });
    actions.splice(random.integer(at, actions.length), 0, ...refunds);
  }
  if (random.chance(0.3)) actions.splice(at + 1, 0, { ...purchase });
  // Two files have the same commission, and the later one has another one too.
  if (random.chance(0.3)) {
    const [first, then] = random.pick([
      [0, 1],
      [1, 0],
    ] as const);
    actions.splice(
      at + 1,
      0,
      { type: 'export', until: null, includeOpen: true },
      ...(random.chance(0.6) ? [{ ...purchase, order: order + 4_000 }] : []),
      { type: 'export', until: null, includeOpen: true },
      { type: 'pay', nth: first, only: null, times: 1 },
      { type: 'pay', nth: then, only: null, times: 1 },
    );
  }
  if (random.chance(0.3))
    actions.push({ type: 'manual', user: purchase.user - 1, amount: random.pick([-100, 500]) });
  return actions;
}

/** A grant that is delivered or revoked, some of them more than once. */
function decideGrant(random: Random): Action[] {
  const nth = random.integer(0, 3);
  const kinds = ['deliver', 'deliver', 'revoke'] as const;
  return Array.from({ length: random.integer(1, 3) }, (): Action => {
    return { type: random.pick(kinds), nth, times: random.pick([1, 1, 3]) };
  });
}

function decideFault(random: Random, options: LedgerOptions): Step[] {
  const afterCalls = () => random.integer(0, 18);
  const kinds: (() => Step)[] = [];
  if (options.kills) kinds.push(() => ({ do: 'kill API', afterCalls: afterCalls() }));
  if (options.pauses)
    kinds.push(() => ({ do: 'pause API', ms: random.between(100, 40_000), afterCalls: afterCalls() }));
  if (options.lostCalls)
    kinds.push(() => ({
      do: 'lose calls',
      requests: random.pick([0, 0, 0.3]),
      answers: random.pick([0, 0.3, 0.6]),
    }));
  if (options.networkFaults) {
    const faults = {
      ...NO_NETWORK_FAULTS,
      lostRequests: random.pick([0, 0.01]),
      lostAnswers: random.pick([0, 0.02, 0.05]),
      lateMs: random.pick([0, 200]),
    };
    kinds.push(() => ({ do: 'break network', faults }));
    kinds.push(() => ({ do: 'mend network' }));
  }
  if (options.postgresFaults)
    kinds.push(() => ({ do: 'restart PostgreSQL', afterMs: random.between(0, 120) }));
  return kinds.length === 0 ? [] : [random.pick(kinds)()];
}
