import type { History } from '../history.ts';
import { type NetworkFaults, NO_NETWORK_FAULTS } from '../world/network.ts';
import { Random } from '../world/random.ts';

/** What may happen to ingest processes that share links with `max_clicks`. Processes and links are numbered from 0. */
export type Step =
  | { do: 'visit'; ingest: number; link: number; visitors: number; leavesAfterMs: number | null }
  /** They use no permit. */
  | { do: 'bots'; ingest: number; link: number; visitors: number }
  | { do: 'wait'; ms: number }
  | { do: 'kill ingest'; ingest: number; afterOperations: number | null }
  | { do: 'stop ingest'; ingest: number }
  | { do: 'kill worker'; ingest: number }
  | { do: 'cut power' }
  | { do: 'fill disk'; freeBytes: number }
  | { do: 'mend disk' }
  | { do: 'stop PostgreSQL' }
  | { do: 'start PostgreSQL' }
  | ({ do: 'break network' } & NetworkFaults)
  | { do: 'mend network' }
  | { do: 'set limit'; link: number; maxClicks: number }
  | { do: 'delete link'; link: number }
  | { do: 'restore link'; link: number };

export type PermitOptions = {
  /** JOURNAL_SYNC in milliseconds; 0 is `always`. */
  syncMs: number;
  /** Length of a click's user agent, which decides how soon a segment is full. Bytes. */
  clickBytes: number;
  ingests: number;
  links: number;
  /** The first value of each link. */
  maxClicks: number;
  /** Longest time between a worker's reading clicks and its storing them. Milliseconds. */
  workerLagMs: number;
  /** The process through which visitors come in the end; -1: all of them. */
  endsAt: number;
  kills: boolean;
  powerCuts: boolean;
  diskFaults: boolean;
  postgresFaults: boolean;
  networkFaults: boolean;
  /** Whether requests may arrive after their sender has given up. */
  lateRequests: boolean;
  changes: boolean;
};

export type PermitHistory = History<Step> & { options: PermitOptions };

/** Decides a history. Each history switches whole kinds of faults off, so that rare faults meet in some of them. */
export function decide(seed: number): PermitHistory {
  const random = new Random(seed);
  const ingests = random.integer(1, 4);
  const options: PermitOptions = {
    syncMs: random.pick([0, 5]),
    clickBytes: random.pick([0, 0, 3_000]),
    ingests,
    endsAt: random.integer(-1, ingests - 1),
    links: random.integer(1, 2),
    maxClicks: random.pick([1, 3, 10, 40]),
    workerLagMs: random.pick([20, 300, 3_000]),
    kills: random.chance(0.6),
    powerCuts: random.chance(0.25),
    diskFaults: random.chance(0.2),
    postgresFaults: random.chance(0.35),
    networkFaults: random.chance(0.6),
    lateRequests: random.chance(0.6),
    changes: random.chance(0.35),
  };
  const theme = random.pick(['', '', '', 'late returns', 'slow starts', 'lost grant']);
  Object.assign(options, optionsOf(theme, random, options));
  const steps: Step[] = [];
  const length = random.integer(4, 30);
  while (steps.length < length) {
    if (theme === 'late returns' && random.chance(0.3)) steps.push(...decideLateReturn(random, options));
    else if (theme === 'slow starts') steps.push(...decideSlowStart(random, visitOf(random, options)));
    else steps.push(...decideSteps(random, options));
  }
  if (theme === 'lost grant') steps.push(...decideLostGrant(random, options));
  return { seed, options, steps };
}

/** Returns what a history has to be like for faults that need several things at once. */
function optionsOf(theme: string, random: Random, { ingests }: PermitOptions): Partial<PermitOptions> {
  const several = { ingests: Math.max(2, ingests), networkFaults: true };
  switch (theme) {
    case 'late returns':
      // Leases that are larger than their first visitors need, and workers that count them late.
      return { ...several, maxClicks: random.pick([20, 40]), workerLagMs: 3_000, lateRequests: true };
    case 'slow starts':
      // Segments that are full after a few clicks, so that a worker truncates the journal meanwhile.
      return { ...several, maxClicks: 40, workerLagMs: 300, clickBytes: 3_000, kills: true };
    case 'lost grant':
      // Nothing else that takes long until permits are free.
      return {
        ...several,
        endsAt: 0,
        lateRequests: false,
        kills: false,
        powerCuts: false,
        postgresFaults: false,
      };
    default:
      return {};
  }
}

function visitOf(random: Random, options: PermitOptions): () => Step & { do: 'visit' } {
  return () => ({
    do: 'visit',
    ingest: random.integer(0, options.ingests - 1),
    link: random.integer(0, options.links - 1),
    visitors: random.integer(1, random.pick([2, 12])),
    leavesAfterMs: random.chance(0.15) ? random.between(0, 12) : null,
  });
}

function decideSteps(random: Random, options: PermitOptions): Step[] {
  const ingest = () => random.integer(0, options.ingests - 1);
  const link = () => random.integer(0, options.links - 1);
  const visit = visitOf(random, options);
  const wait = (): Step => ({ do: 'wait', ms: random.between(0, random.pick([4, 30, 400, 3_000])) });
  const kinds: (() => Step[])[] = [
    () => [visit()],
    () => [visit(), wait()],
    () => [visit(), visit(), wait()],
  ];
  if (options.kills) {
    kinds.push(() => {
      const before = visit();
      const { ingest: at, link: to } = before;
      return [
        before,
        { do: 'bots', ingest: at, link: to, visitors: random.integer(1, 5) },
        { do: 'kill ingest', ingest: at, afterOperations: null },
        visit(),
      ];
    });
    kinds.push(() => [
      visit(),
      {
        do: 'kill ingest',
        ingest: ingest(),
        afterOperations: random.chance(0.4) ? random.integer(0, 20) : null,
      },
      visit(),
    ]);
    kinds.push(() => [
      random.pick<Step>([
        { do: 'stop ingest', ingest: ingest() },
        { do: 'kill worker', ingest: ingest() },
      ]),
    ]);
  }
  if (options.powerCuts) kinds.push(() => [visit(), { do: 'cut power' }, visit()]);
  if (options.diskFaults) {
    kinds.push(() => [{ do: 'fill disk', freeBytes: random.integer(0, 8_000) }, visit(), wait()]);
    kinds.push(() => [{ do: 'mend disk' }]);
  }
  if (options.postgresFaults) {
    kinds.push(() => [{ do: 'stop PostgreSQL' }, visit(), wait(), { do: 'start PostgreSQL' }]);
  }
  if (options.networkFaults) {
    kinds.push(() => [
      {
        do: 'break network',
        lostRequests: random.pick([0, 0.3]),
        lostAnswers: random.pick([0, 0.3, 0.6]),
        heldUp: options.lateRequests ? random.pick([0, 0.3, 0.6]) : 0,
        heldUpMs: random.pick([30, 1_500, 6_000]),
        lateMs: random.pick([0, 0, 400]),
      },
      visit(),
      wait(),
    ]);
    kinds.push(() => [{ do: 'mend network' }]);
    kinds.push(() => decideUnknownGrant(random, options, visit));
    if (options.kills) kinds.push(() => decideSlowStart(random, visit));
  }
  if (options.changes) {
    kinds.push(() => [
      { do: 'set limit', link: link(), maxClicks: random.integer(1, 2 * options.maxClicks) },
      visit(),
    ]);
    const changed = link();
    kinds.push(() => [{ do: 'delete link', link: changed }, visit(), { do: 'restore link', link: changed }]);
  }
  return random.pick(kinds)();
}

/**
 * Requests whose sender has given up, or was killed, before PostgreSQL handles them. No visitor comes for a while after
 * that.
 */
function decideUnknownGrant(
  random: Random,
  { lateRequests }: PermitOptions,
  visit: () => Step & { do: 'visit' },
): Step[] {
  const first = visit();
  return [
    first,
    { do: 'wait', ms: random.between(600, 3_000) },
    {
      do: 'break network',
      lostRequests: 0,
      lostAnswers: lateRequests ? 0.3 : 0.8,
      heldUp: lateRequests ? 0.5 : 0,
      heldUpMs: random.pick([300, 6_000]),
    },
    { ...first, visitors: random.integer(1, 3) },
    { do: 'wait', ms: random.between(0, 1_500) },
    ...(random.chance(0.4)
      ? [{ do: 'kill ingest', ingest: first.ingest, afterOperations: null } as const, visit()]
      : []),
    { do: 'mend network' },
  ];
}

/**
 * A return of permits is held up until its sender has given up and served visitors. Then another process wants all that
 * is left, while the worker has not counted those visitors.
 */
function decideLateReturn(random: Random, { ingests, links, maxClicks }: PermitOptions): Step[] {
  const ingest = random.integer(0, ingests - 1);
  const other = (ingest + random.integer(1, ingests - 1)) % ingests;
  const link = random.integer(0, links - 1);
  const visit = (at: number, visitors: number): Step => ({
    ...{ do: 'visit', ingest: at, link, visitors, leavesAfterMs: null },
  });
  // Or its response is late, and visitors come meanwhile.
  const isLate = random.chance(0.3);
  const faults = isLate ? { lateMs: 1_500 } : { heldUp: 1, heldUpMs: random.pick([1_500, 3_000]) };
  const more = visit(ingest, random.integer(2, 12));
  return [
    visit(ingest, random.integer(1, 2)),
    { do: 'wait', ms: random.between(300, 480) },
    { do: 'break network', ...NO_NETWORK_FAULTS, ...faults },
    { do: 'wait', ms: random.between(400, 900) },
    ...(isLate ? [more] : []),
    { do: 'mend network' },
    ...(isLate ? [] : [more]),
    { do: 'wait', ms: random.between(100, 1_500) },
    visit(other, maxClicks),
    { do: 'wait', ms: random.between(100, 1_000) },
    ...(random.chance(0.5) ? [visit(other, maxClicks)] : []),
  ];
}

/** The response to a request for permits is lost, and no visitor comes to that process again. */
function decideLostGrant(random: Random, { ingests, links }: PermitOptions): Step[] {
  const visit: Step = {
    do: 'visit',
    ingest: random.integer(1, ingests - 1),
    link: random.integer(0, links - 1),
    visitors: random.integer(1, 3),
    leavesAfterMs: null,
  };
  return [
    { do: 'break network', ...NO_NETWORK_FAULTS, lostAnswers: 0.5 },
    visit,
    { do: 'wait', ms: random.between(0, 1_500) },
    visit,
    { do: 'wait', ms: random.between(0, 1_500) },
    { do: 'mend network' },
  ];
}

/** A process starts again while workers store what it has written, and PostgreSQL's answers are late. */
function decideSlowStart(random: Random, visit: () => Step & { do: 'visit' }): Step[] {
  const first = visit();
  const lateMs = random.pick([100, 1_000, 3_000]);
  return [
    first,
    { do: 'wait', ms: random.between(600, 1_500) },
    { ...first, visitors: random.integer(1, 12) },
    { do: 'wait', ms: random.between(0, 30) },
    { do: 'break network', ...NO_NETWORK_FAULTS, lateMs },
    { do: 'kill ingest', ingest: first.ingest, afterOperations: null },
    { ...first, visitors: 1 },
    { do: 'wait', ms: random.between(0, 2 * lateMs) },
    { do: 'mend network' },
  ];
}

export function words(step: Step): string {
  switch (step.do) {
    case 'visit': {
      const leaves =
        step.leavesAfterMs === null ? '' : `, who leave after ${step.leavesAfterMs.toFixed(1)} ms`;
      const visitors = step.visitors === 1 ? '1 visitor comes' : `${step.visitors} visitors come`;
      return `${visitors} to link ${step.link} by ingest-${step.ingest}${leaves}`;
    }
    case 'bots':
      return `${step.visitors} bots come to link ${step.link} by ingest-${step.ingest}`;
    case 'wait':
      return `${(step.ms / 1_000).toFixed(3)} s pass`;
    case 'kill ingest':
      return step.afterOperations === null
        ? `ingest-${step.ingest} is killed`
        : `ingest-${step.ingest} is killed before its ${step.afterOperations + 1}th call to the disk from here`;
    case 'stop ingest':
      return `ingest-${step.ingest} is stopped`;
    case 'kill worker':
      return `the worker of ingest-${step.ingest} is killed, and starts again`;
    case 'cut power':
      return 'the power of all is cut';
    case 'fill disk':
      return `the disk is full: ${step.freeBytes} bytes are free`;
    case 'mend disk':
      return 'the disk has room again';
    case 'stop PostgreSQL':
      return 'PostgreSQL is down';
    case 'start PostgreSQL':
      return 'PostgreSQL is up';
    case 'break network':
      return (
        `the network loses ${percent(step.lostRequests)} of requests and ${percent(step.lostAnswers)} of answers, ` +
        `holds ${percent(step.heldUp)} up for up to ${(step.heldUpMs / 1_000).toFixed(3)} s, ` +
        `and its answers are up to ${((step.lateMs ?? 0) / 1_000).toFixed(3)} s late`
      );
    case 'mend network':
      return 'the network is whole again';
    case 'set limit':
      return `max_clicks of link ${step.link} is set to ${step.maxClicks}`;
    case 'delete link':
      return `link ${step.link} is deleted`;
    case 'restore link':
      return `link ${step.link} is restored`;
  }
}

function percent(probability: number): string {
  return `${Math.round(probability * 100)} %`;
}
