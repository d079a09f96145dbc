import type { History } from '../history.ts';
import type { NetworkFaults } from '../world/network.ts';
import { NO_NETWORK_FAULTS } from '../world/network.ts';
import { Random } from '../world/random.ts';
import { ACCEPTS, type Behavior, NO_RECEIVER_FAULTS, type ReceiverFaults } from './receivers.ts';

/** What may happen to workers that deliver webhooks. Hooks and workers are numbered from 0. */
export type Step =
  | { do: 'event'; events: number }
  | { do: 'click'; clicks: number }
  | { do: 'wait'; ms: number }
  /** The machines sleep: it is that much later at once, but not by their monotonic clocks. */
  | { do: 'sleep'; ms: number }
  /** The machines stand still, and their clocks go on: it is that much later at once. */
  | { do: 'stand still'; ms: number }
  | { do: 'receiver'; hook: number; behavior: Behavior }
  | { do: 'break receivers'; faults: ReceiverFaults }
  | { do: 'switch hook'; hook: number; on: boolean }
  | { do: 'kill worker'; worker: number; afterCalls: number | null }
  | { do: 'stop worker'; worker: number }
  | { do: 'pause worker'; worker: number; ms: number; afterCalls: number | null }
  | { do: 'set clock'; worker: number; ms: number }
  | { do: 'stop PostgreSQL' }
  | { do: 'start PostgreSQL' }
  | { do: 'keep standby' }
  | { do: 'fail over'; downMs: number }
  | { do: 'break network'; faults: NetworkFaults }
  | { do: 'mend network' };

export type WebhookOptions = {
  workers: number;
  /** Whether the workers share a host, and so see that another one has died. */
  oneHost: boolean;
  hooks: number;
  clicks: boolean;
  /** Receivers that fail, hang, or respond late. */
  badReceivers: boolean;
  /** Whole days pass while a receiver fails. */
  days: boolean;
  switches: boolean;
  kills: boolean;
  pauses: boolean;
  clockFaults: boolean;
  postgresFaults: boolean;
  /** PostgreSQL goes back to what a standby has. */
  failovers: boolean;
  networkFaults: boolean;
  receiverFaults: boolean;
  /** How many kinds of steps happen: the fewer, the more often one follows itself. */
  kinds: number;
};

export type WebhookHistory = History<Step> & { options: WebhookOptions };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Decides a history. Each switches whole kinds of faults off, so that rare ones meet in some. */
export function decide(seed: number): WebhookHistory {
  const random = new Random(seed);
  const options: WebhookOptions = {
    workers: random.pick([1, 2, 2]),
    oneHost: random.chance(0.5),
    hooks: random.integer(1, 2),
    clicks: random.chance(0.4),
    badReceivers: random.chance(0.6),
    days: random.chance(0.25),
    switches: random.chance(0.25),
    kills: random.chance(0.5),
    pauses: random.chance(0.3),
    clockFaults: random.chance(0.2),
    postgresFaults: random.chance(0.3),
    failovers: random.chance(0.2),
    networkFaults: random.chance(0.3),
    receiverFaults: random.chance(0.4),
    kinds: random.pick([1, 2, 3, 99, 99]),
  };
  // Two fifths of the histories has no fault of a machine: there each delivery comes once, at its time.
  if (random.chance(0.4)) {
    const none = { kills: false, pauses: false, clockFaults: false, postgresFaults: false, failovers: false };
    Object.assign(options, { ...none, networkFaults: false, receiverFaults: false });
  }
  const hasLateOutcomes = random.chance(0.12);
  if (hasLateOutcomes) Object.assign(options, { workers: 2, pauses: true });
  const steps: Step[] = [];
  const kinds = hasLateOutcomes ? [() => decideLateOutcome(random, options)] : stepKinds(random, options);
  while (kinds.length > options.kinds) kinds.splice(random.integer(0, kinds.length - 1), 1);
  const length = random.integer(3, 20);
  while (steps.length < length) steps.push(...random.pick(kinds)());
  return { seed, options, steps };
}

/** An attempt that ends long after its claim, when another worker has made the next one. */
function decideLateOutcome(random: Random, { workers }: WebhookOptions): Step[] {
  return [
    {
      do: 'receiver',
      hook: 0,
      behavior: { status: random.pick([200, 500]), afterMs: random.pick([1_500, 15_000]) },
    },
    { do: 'event', events: 1 },
    { do: 'wait', ms: random.between(300, 1_500) },
    {
      do: 'pause worker',
      worker: random.integer(0, workers - 1),
      ms: random.between(95_000, 130_000),
      afterCalls: null,
    },
    { do: 'receiver', hook: 0, behavior: random.pick([ACCEPTS, { status: 500, afterMs: 5 }]) },
    { do: 'wait', ms: random.between(95_000, 140_000) },
  ];
}

const RETRY_AFTER = ['2', '600', '90000'];

/** Returns the kinds of steps of a history: each call decides some of them. */
function stepKinds(random: Random, options: WebhookOptions): (() => Step[])[] {
  const worker = () => random.integer(0, options.workers - 1);
  const hook = () => random.integer(0, options.hooks - 1);
  const event = (): Step =>
    options.clicks && random.chance(0.5)
      ? { do: 'click', clicks: random.integer(1, 4) }
      : { do: 'event', events: random.integer(1, 3) };
  const wait = (): Step => ({ do: 'wait', ms: random.between(0, random.pick([20, 200, 1_000, 3_000])) });
  const afterCalls = () => (random.chance(0.7) ? random.integer(0, 30) : null);
  /** Jobs wait for a minute after a sleep, as after any jump of the clock: that takes long, so most stand still. */
  const later = (): Step[] => {
    const ms = random.pick([6 * SECOND, 6 * MINUTE, 40 * MINUTE, 13 * HOUR]);
    if (random.chance(0.85)) return [{ do: 'stand still', ms }];
    const sleep: Step = { do: 'sleep', ms };
    return random.chance(0.5) ? [sleep] : [sleep, { do: 'wait', ms: 62 * SECOND }];
  };
  const kinds: (() => Step[])[] = [() => [event(), wait()], () => [event(), wait(), event()]];
  if (options.kills) {
    const kill = (): Step[] => [
      event(),
      { do: 'kill worker', worker: worker(), afterCalls: afterCalls() },
      event(),
      { do: 'wait', ms: random.between(0, 2_000) },
    ];
    kinds.push(kill, kill);
    kinds.push(() => [event(), wait(), { do: 'stop worker', worker: worker() }]);
  }
  if (options.pauses) {
    kinds.push(() => [
      event(),
      {
        do: 'pause worker',
        worker: worker(),
        ms: random.between(500, random.pick([5_000, 120_000])),
        afterCalls: afterCalls(),
      },
      wait(),
      event(),
      wait(),
    ]);
    kinds.push(() => [event(), wait(), ...later()]);
    kinds.push(() => decideLateOutcome(random, options));
  }
  if (options.badReceivers) {
    const behavior = (): Behavior =>
      random.pick<Behavior>([
        { status: 500, afterMs: 5 },
        { status: 404, afterMs: 5 },
        { status: 503, afterMs: 5, retryAfter: random.pick(RETRY_AFTER) },
        { status: 429, afterMs: 5, retryAfter: random.pick(RETRY_AFTER) },
        { status: 410, afterMs: 5 },
        { status: 0, afterMs: 0 },
        { status: 200, afterMs: random.pick([1_200, 5_000, 19_000, 25_000]) },
      ]);
    kinds.push(() => [{ do: 'receiver', hook: hook(), behavior: behavior() }, event(), wait()]);
    kinds.push(() => [
      { do: 'receiver', hook: hook(), behavior: behavior() },
      event(),
      { do: 'wait', ms: 2_500 },
      ...later(),
      event(),
      wait(),
    ]);
    kinds.push(() => [{ do: 'receiver', hook: hook(), behavior: { ...ACCEPTS } }, event(), wait()]);
    // Attempts that follow each other, and one that would come too early.
    kinds.push(() => [
      { do: 'receiver', hook: hook(), behavior: behavior() },
      { do: 'event', events: 1 },
      { do: 'wait', ms: 1_500 },
      ...Array.from({ length: random.integer(1, 3) }, (): Step[] => [
        { do: 'stand still', ms: random.pick([6 * SECOND, 6 * SECOND, 6 * MINUTE]) },
        { do: 'wait', ms: 1_500 },
      ]).flat(),
    ]);
    // An attempt that takes as long as it may.
    kinds.push(() => [
      {
        do: 'receiver',
        hook: hook(),
        behavior: random.pick([
          { status: 0, afterMs: 0 },
          { status: 200, afterMs: 19_000 },
        ]),
      },
      { do: 'event', events: 1 },
      { do: 'wait', ms: 24 * SECOND },
    ]);
  }
  if (options.days) {
    const accepted = (): Step[] => [
      { do: 'receiver', hook: 0, behavior: { ...ACCEPTS } },
      { do: 'event', events: 1 },
      { do: 'wait', ms: 1_000 },
      { do: 'receiver', hook: 0, behavior: { status: 500, afterMs: 5 } },
    ];
    const ofDays = (): Step[] => {
      // Of pauses that are alike, the fifth day of failures comes after four days.
      const pauses = random.pick([[DAY], [27 * HOUR], [DAY, 20 * HOUR, 2 * DAY]]);
      const accepts = random.pick([0, 0.1]);
      return [
        { do: 'receiver', hook: hook(), behavior: { status: 500, afterMs: 5 } },
        ...Array.from({ length: random.integer(4, 7) }, (): Step[] => [
          { do: 'event', events: 1 },
          { do: 'wait', ms: 1_000 },
          ...(random.chance(accepts) ? accepted() : []),
          { do: 'stand still', ms: random.pick(pauses) },
        ]).flat(),
        event(),
        wait(),
      ];
    };
    kinds.push(ofDays, ofDays, ofDays);
  }
  if (options.switches) {
    kinds.push(() => {
      const switched = hook();
      return [
        event(),
        wait(),
        { do: 'switch hook', hook: switched, on: false },
        event(),
        wait(),
        ...(random.chance(0.5) ? ([{ do: 'stand still', ms: 100 * SECOND }, event(), wait()] as Step[]) : []),
        { do: 'switch hook', hook: switched, on: true },
        event(),
      ];
    });
  }
  if (options.clockFaults) {
    const length = random.pick([5 * SECOND, 5 * MINUTE, DAY]);
    kinds.push(() => [
      { do: 'set clock', worker: worker(), ms: random.between(-length, length) },
      event(),
      wait(),
    ]);
    kinds.push(() => [{ do: 'set clock', worker: worker(), ms: 0 }, event(), wait()]);
  }
  if (options.postgresFaults) {
    kinds.push(() => [
      event(),
      wait(),
      { do: 'stop PostgreSQL' },
      wait(),
      { do: 'start PostgreSQL' },
      event(),
    ]);
  }
  if (options.failovers) {
    // Longer than a lease.
    kinds.push(() => [
      event(),
      wait(),
      { do: 'keep standby' },
      event(),
      wait(),
      { do: 'fail over', downMs: random.between(3_100, 6_000) },
      wait(),
      event(),
    ]);
  }
  if (options.networkFaults) {
    const faults = {
      ...NO_NETWORK_FAULTS,
      lostRequests: random.pick([0, 0.2]),
      lostAnswers: random.pick([0, 0.2, 0.4]),
      lateMs: random.pick([0, 50, 500]),
    };
    kinds.push(() => [
      { do: 'break network', faults },
      event(),
      wait(),
      event(),
      wait(),
      { do: 'mend network' },
    ]);
  }
  if (options.receiverFaults) {
    const faults = { lostRequests: random.pick([0, 0.3]), lostAnswers: random.pick([0.2, 0.6]) };
    kinds.push(() => [{ do: 'break receivers', faults }, event(), wait()]);
    kinds.push(() => [{ do: 'break receivers', faults: { ...NO_RECEIVER_FAULTS } }, event(), wait()]);
  }
  return kinds;
}
