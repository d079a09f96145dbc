import type { History } from '../history.ts';
import type { ReceiverFaults } from '../webhooks/receivers.ts';
import type { NetworkFaults } from '../world/network.ts';
import { NO_NETWORK_FAULTS } from '../world/network.ts';
import { Random } from '../world/random.ts';
import { NO_STRIPE_FAULTS, type StripeFaults } from './stripe.ts';

/** What may happen to the credits and coupons of a shop. All are numbered from 0, in the order of their creation. */
export type Step =
  | { do: 'earn'; referrer: number }
  | { do: 'revoke'; nth: number }
  /** The shop's server says that it has delivered a credit by itself. */
  | { do: 'mark delivered'; nth: number }
  | { do: 'retry delivery'; nth: number }
  /** The fulfilment is deleted, and another one created, also for earlier credits. */
  | { do: 'replace fulfilment'; provider: Provider }
  | { do: 'create coupon' }
  | { do: 'delete coupon'; nth: number }
  | { do: 'retry coupon'; nth: number }
  /** A referrer has another customer at Stripe from now on. */
  | { do: 'tie customer'; referrer: number; customer: number }
  | { do: 'break Stripe'; faults: StripeFaults }
  | { do: 'mend Stripe' }
  /** How the receiver of a fulfilment by webhook responds. `status` 0: it never does. */
  | { do: 'receiver'; status: number; afterMs: number }
  | { do: 'break receiver'; faults: ReceiverFaults }
  | { do: 'wait'; ms: number }
  /** The machines stand still, and their clocks go on: it is that much later at once. */
  | { do: 'stand still'; ms: number }
  | { do: 'kill worker'; worker: number; afterCalls: number | null }
  | { do: 'pause worker'; worker: number; ms: number; afterCalls: number }
  | { do: 'break network'; faults: NetworkFaults }
  | { do: 'mend network' }
  | { do: 'restart PostgreSQL' };

export type Provider = 'webhook' | 'stripe_balance';

export type CreditOptions = {
  provider: Provider;
  workers: number;
  /** What the shop has. */
  work: 'credits' | 'coupons' | 'both';
  providerFaults: boolean;
  revocations: boolean;
  replacements: boolean;
  /** Customers at Stripe change. */
  ties: boolean;
  kills: boolean;
  /** Workers stand still for longer than their claims. */
  pauses: boolean;
  /** A day passes, after which Stripe has forgotten what it was asked. */
  days: boolean;
  networkFaults: boolean;
  postgresFaults: boolean;
};

export type CreditHistory = History<Step> & { options: CreditOptions };

export const REFERRERS = 2;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
/** Claims of credits last 90 s, those of promotion codes 120 s. */
const LONGER_THAN_A_CLAIM = [95 * SECOND, 125 * SECOND];

/** Decides a history. Each switches whole kinds of faults off, so that rare ones meet in some. */
export function decide(seed: number): CreditHistory {
  const random = new Random(seed);
  const options: CreditOptions = {
    provider: random.pick<Provider>(['webhook', 'stripe_balance', 'stripe_balance']),
    workers: random.pick([1, 1, 2]),
    work: random.pick<CreditOptions['work']>(['credits', 'credits', 'coupons', 'both']),
    providerFaults: random.chance(0.7),
    revocations: random.chance(0.4),
    replacements: random.chance(0.15),
    ties: random.chance(0.25),
    kills: random.chance(0.4),
    pauses: random.chance(0.35),
    days: random.chance(0.3),
    networkFaults: random.chance(0.2),
    postgresFaults: random.chance(0.2),
  };
  if (options.pauses) options.workers = 2;
  const steps: Step[] = [];
  const kinds = stepKinds(random, options);
  const length = random.integer(2, 10);
  const isLate = options.pauses && options.ties && options.work !== 'coupons';
  if (isLate && options.provider === 'stripe_balance') steps.push(...decideLateCustomer(random));
  while (steps.length < length) steps.push(...random.pick(kinds)());
  return { seed, options, steps };
}

function stepKinds(random: Random, options: CreditOptions): (() => Step[])[] {
  const worker = () => random.integer(0, options.workers - 1);
  const nth = () => random.integer(0, 2);
  const wait = (): Step => ({ do: 'wait', ms: random.between(0, random.pick([50, 600, 1_500])) });
  const earn = (): Step => ({ do: 'earn', referrer: random.integer(0, REFERRERS - 1) });
  const ofCredits = options.work !== 'coupons';
  const ofCoupons = options.work !== 'credits';
  const begin = (): Step => {
    if (ofCredits && ofCoupons) return random.chance(0.5) ? earn() : { do: 'create coupon' };
    return ofCredits ? earn() : { do: 'create coupon' };
  };
  const still = (): Step => ({
    do: 'stand still',
    ms: random.pick([6 * SECOND, 6 * SECOND, 6 * MINUTE, ...(options.days ? [25 * HOUR, 25 * HOUR] : [])]),
  });
  const later = (): Step[] => [still(), { do: 'wait', ms: random.between(600, 1_500) }];
  const kinds: (() => Step[])[] = [() => [begin(), wait()], () => [begin(), wait(), ...later()]];
  if (options.providerFaults) {
    const faults = (): StripeFaults => ({
      ...NO_STRIPE_FAULTS,
      lostRequests: random.pick([0, 0, 0.3]),
      lostAnswers: random.pick([0, 0.3, 1]),
      failsBefore: random.pick([0, 0, 0.3]),
      failsAfter: random.pick([0, 0.3, 1]),
      heldUp: random.pick([0, 0, 0.3]),
      doubled: random.pick([0, 0.3]),
      busy: random.pick([0, 0, 0.2]),
    });
    const behavior = (): Step => ({
      do: 'receiver',
      status: random.pick([200, 500, 404, 0]),
      afterMs: random.pick([5, 5, 15_000]),
    });
    const broken = (): Step =>
      options.provider === 'webhook' && random.chance(0.7)
        ? random.chance(0.5)
          ? behavior()
          : { do: 'break receiver', faults: { lostRequests: 0.2, lostAnswers: random.pick([0.5, 1]) } }
        : { do: 'break Stripe', faults: faults() };
    const mended = (): Step[] => [
      { do: 'mend Stripe' },
      { do: 'receiver', status: 200, afterMs: 5 },
      { do: 'break receiver', faults: { lostRequests: 0, lostAnswers: 0 } },
    ];
    kinds.push(() => [broken(), begin(), { do: 'wait', ms: random.between(500, 1_500) }, ...later()]);
    kinds.push(() => [
      broken(),
      begin(),
      { do: 'wait', ms: random.between(500, 12_000) },
      ...(random.chance(0.5) ? mended() : []),
      ...later(),
      ...later(),
    ]);
  }
  if (options.revocations && ofCredits) {
    kinds.push(() => [earn(), wait(), { do: 'revoke', nth: nth() }, wait()]);
    kinds.push(() => [earn(), wait(), { do: random.pick(['mark delivered', 'retry delivery']), nth: nth() }]);
  }
  if (ofCoupons)
    kinds.push(() => [
      begin(),
      wait(),
      { do: random.pick(['delete coupon', 'delete coupon', 'retry coupon']), nth: nth() },
      wait(),
    ]);
  if (options.replacements && ofCredits)
    kinds.push(() => [
      earn(),
      wait(),
      { do: 'replace fulfilment', provider: random.pick<Provider>(['webhook', 'stripe_balance']) },
      wait(),
    ]);
  if (options.ties && ofCredits) {
    const tie = (): Step => ({
      do: 'tie customer',
      referrer: random.integer(0, REFERRERS - 1),
      customer: random.integer(0, 3),
    });
    kinds.push(() => [earn(), wait(), tie(), ...later()]);
  }
  if (options.kills)
    kinds.push(() => [
      begin(),
      {
        do: 'kill worker',
        worker: worker(),
        afterCalls: random.chance(0.85) ? random.integer(0, 14) : null,
      },
      { do: 'wait', ms: random.between(500, 2_500) },
      { do: 'stand still', ms: random.pick([6 * SECOND, ...LONGER_THAN_A_CLAIM]) },
      { do: 'wait', ms: 700 },
    ]);
  if (options.pauses)
    kinds.push(() => [
      begin(),
      {
        do: 'pause worker',
        worker: worker(),
        ms: random.pick(LONGER_THAN_A_CLAIM) + random.between(0, 3_000),
        afterCalls: random.integer(0, 14),
      },
      ...(options.ties && random.chance(0.5)
        ? ([{ do: 'tie customer', referrer: 0, customer: random.integer(0, 3) }] as Step[])
        : []),
      ...(ofCoupons && random.chance(0.5)
        ? ([
            { do: 'wait', ms: 1_500 },
            { do: 'delete coupon', nth: nth() },
          ] as Step[])
        : []),
      { do: 'wait', ms: random.between(110_000, 140_000) },
    ]);
  if (options.networkFaults) {
    const faults = {
      ...NO_NETWORK_FAULTS,
      lostRequests: random.pick([0, 0.1]),
      lostAnswers: random.pick([0.1, 0.3]),
      lateMs: random.pick([0, 200]),
    };
    kinds.push(() => [{ do: 'break network', faults }, begin(), ...later(), { do: 'mend network' }]);
  }
  if (options.postgresFaults) kinds.push(() => [begin(), wait(), { do: 'restart PostgreSQL' }, ...later()]);
  return kinds;
}

/**
 * A worker stands still in an attempt until its claim is over, the referrer has another customer by then, and the next
 * attempt does not know what became of its call. A day later Stripe does not know either.
 */
function decideLateCustomer(random: Random): Step[] {
  const referrer = random.integer(0, REFERRERS - 1);
  const pause = (worker: number): Step => ({
    do: 'pause worker',
    worker,
    ms: random.pick(LONGER_THAN_A_CLAIM) + random.between(0, 3_000),
    afterCalls: random.integer(2, 9),
  });
  return [
    { do: 'break Stripe', faults: { ...NO_STRIPE_FAULTS, lostAnswers: 1 } },
    { do: 'earn', referrer },
    { do: 'wait', ms: random.between(0, 600) },
    pause(0),
    ...(random.chance(0.5) ? [pause(1)] : []),
    { do: 'wait', ms: 1_500 },
    { do: 'tie customer', referrer, customer: random.integer(REFERRERS, 3) },
    { do: 'wait', ms: random.between(110_000, 140_000) },
    { do: 'mend Stripe' },
    { do: 'stand still', ms: 25 * HOUR },
    { do: 'wait', ms: random.between(600, 1_500) },
  ];
}
