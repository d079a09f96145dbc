import type { History } from '../history.ts';
import { Random } from '../world/random.ts';

/** What may happen to an ingest process, its journal, and the worker that reads it. */
export type Step =
  | { do: 'append'; clicks: number }
  | { do: 'wait'; ms: number }
  | { do: 'kill ingest'; afterOperations: number | null }
  | { do: 'kill worker' }
  | { do: 'stop ingest' }
  | { do: 'start second' }
  | { do: 'cut power'; afterOperations: number | null }
  | { do: 'fill disk'; freeBytes: number }
  | { do: 'break disk'; writeErrors: number; syncErrors: number }
  | { do: 'make read-only' }
  | { do: 'slow disk' }
  | { do: 'mend disk' }
  | { do: 'set clock'; ms: number }
  | { do: 'sleep'; ms: number }
  | { do: 'stop PostgreSQL' }
  | { do: 'start PostgreSQL' }
  | { do: 'fail PostgreSQL over' }
  | { do: 'copy files' }
  | { do: 'restore files' };

export type JournalOptions = {
  /** JOURNAL_SYNC in milliseconds; 0 is `always`. */
  syncMs: number;
  /** Bytes of all segments. */
  budgetBytes: number;
  /** Length of a click's user agent, which decides how soon a segment is full. Bytes. */
  clickBytes: number;
  kills: boolean;
  powerCuts: boolean;
  diskFaults: boolean;
  clockFaults: boolean;
  postgresFaults: boolean;
  restores: boolean;
};

export type JournalHistory = History<Step> & { options: JournalOptions };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Decides a history. Each history switches whole kinds of faults off, so that rare faults meet in some of them. */
export function decide(seed: number): JournalHistory {
  const random = new Random(seed);
  const options: JournalOptions = {
    syncMs: random.pick([0, 5]),
    budgetBytes: 8 * 1024 * random.pick([16, 64]),
    clickBytes: random.pick([10, 200, 3_000]),
    kills: random.chance(0.7),
    powerCuts: random.chance(0.6),
    diskFaults: random.chance(0.4),
    clockFaults: random.chance(0.35),
    postgresFaults: random.chance(0.4),
    restores: random.chance(0.12),
  };
  // A copy knows the starts that it misses by the minutes since: README.md, "What it does not know".
  options.restores &&= !options.clockFaults;
  const steps: Step[] = [];
  const length = random.integer(4, 30);
  while (steps.length < length) steps.push(...decideSteps(random, options));
  return { seed, options, steps };
}

function decideSteps(random: Random, options: JournalOptions): Step[] {
  const kinds: (() => Step[])[] = [
    () => [{ do: 'append', clicks: random.integer(1, random.pick([3, 40])) }],
    () => [
      { do: 'append', clicks: random.integer(1, 5) },
      { do: 'wait', ms: random.between(0, 8) },
    ],
    () => [{ do: 'wait', ms: random.between(0, random.pick([5, 50, 2_000])) }],
  ];
  const operations = () => (random.chance(0.6) ? random.integer(0, 40) : null);
  if (options.kills) {
    kinds.push(() => [
      { do: 'kill ingest', afterOperations: operations() },
      { do: 'append', clicks: random.integer(1, 6) },
    ]);
    kinds.push(() => [
      random.pick<Step>([{ do: 'stop ingest' }, { do: 'kill worker' }, { do: 'start second' }]),
    ]);
  }
  if (options.powerCuts) {
    kinds.push(() => [
      { do: 'append', clicks: random.integer(1, 6) },
      { do: 'cut power', afterOperations: operations() },
    ]);
  }
  if (options.diskFaults) kinds.push(() => decideDiskFault(random));
  if (options.diskFaults && options.powerCuts) kinds.push(() => decideLostSyncs(random));
  if (options.clockFaults) kinds.push(() => decideClockFault(random));
  if (options.postgresFaults) {
    kinds.push(() => [
      random.pick<Step>([
        { do: 'stop PostgreSQL' },
        { do: 'start PostgreSQL' },
        { do: 'fail PostgreSQL over' },
      ]),
    ]);
  }
  if (options.diskFaults && options.clockFaults) kinds.push(() => decideOwedCorrection(random));
  if (options.postgresFaults && options.powerCuts) kinds.push(() => decideUnknownPast(random));
  if (options.restores) kinds.push(() => decideRestore(random, options));
  return random.pick(kinds)();
}

function decideDiskFault(random: Random): Step[] {
  const fault = random.pick<Step>([
    { do: 'fill disk', freeBytes: random.integer(0, 200_000) },
    { do: 'break disk', writeErrors: random.between(0, 0.5), syncErrors: random.between(0, 0.5) },
    { do: 'make read-only' },
    { do: 'slow disk' },
    { do: 'mend disk' },
  ]);
  return [fault, { do: 'append', clicks: random.integer(1, 10) }, { do: 'wait', ms: random.between(0, 400) }];
}

/** A disk that refuses to sync, and then loses what it did not sync. */
function decideLostSyncs(random: Random): Step[] {
  return [
    { do: 'break disk', writeErrors: 0, syncErrors: random.between(0.2, 0.9) },
    { do: 'append', clicks: random.integer(1, 4) },
    { do: 'wait', ms: random.between(0, 30) },
    { do: 'append', clicks: random.integer(1, 4) },
    { do: 'wait', ms: random.between(0, 60) },
    { do: 'cut power', afterOperations: null },
    { do: 'mend disk' },
  ];
}

/** A power cut after which PostgreSQL can't tell how far the stream was. */
function decideUnknownPast(random: Random): Step[] {
  return [
    { do: 'kill ingest', afterOperations: null },
    { do: 'append', clicks: random.integer(1, 4) },
    { do: 'wait', ms: random.between(10, 60) },
    { do: 'stop PostgreSQL' },
    { do: 'cut power', afterOperations: null },
    { do: 'append', clicks: random.integer(1, 4) },
    { do: 'start PostgreSQL' },
  ];
}

/** A restored copy that lacks a later start, perhaps while PostgreSQL is down. */
function decideRestore(random: Random, { postgresFaults }: JournalOptions): Step[] {
  if (random.chance(0.3)) return [{ do: 'copy files' }];
  return [
    ...(random.chance(0.5) ? [{ do: 'copy files' } as const] : []),
    { do: 'kill ingest', afterOperations: null },
    { do: 'append', clicks: random.integer(1, 4) },
    { do: 'wait', ms: random.between(0, 100) },
    ...(postgresFaults ? [{ do: 'stop PostgreSQL' } as const] : []),
    { do: 'restore files' },
    { do: 'append', clicks: random.integer(1, random.pick([4, 40])) },
    ...(postgresFaults ? [{ do: 'start PostgreSQL' } as const] : []),
  ];
}

/** A correction that the full disk refuses, in a process that ends before it can write it. */
function decideOwedCorrection(random: Random): Step[] {
  return [
    { do: 'set clock', ms: random.between(10 * SECOND, DAY) },
    { do: 'append', clicks: 1 },
    { do: 'wait', ms: 62 * SECOND },
    { do: 'append', clicks: random.integer(1, 3) },
    { do: 'break disk', writeErrors: random.between(0.2, 0.8), syncErrors: 0 },
    { do: 'set clock', ms: 0 },
    { do: 'wait', ms: random.between(250, 1_500) },
    { do: 'kill ingest', afterOperations: null },
    { do: 'mend disk' },
    { do: 'append', clicks: 1 },
  ];
}

function decideClockFault(random: Random): Step[] {
  const length = random.pick([300, 4 * SECOND, 20 * SECOND, 2 * MINUTE, DAY]);
  const ms = random.between(-length, length);
  return [
    random.chance(0.75) ? { do: 'set clock', ms } : { do: 'sleep', ms: Math.abs(ms) },
    { do: 'append', clicks: random.integer(1, 3) },
    // A jump ahead is followed after a minute.
    { do: 'wait', ms: random.pick([100, 1_000, 61 * SECOND]) },
    ...(random.chance(0.5) ? [{ do: 'set clock', ms: 0 } as const] : []),
  ];
}

export function words(step: Step): string {
  switch (step.do) {
    case 'append':
      return `${step.clicks} click${step.clicks === 1 ? '' : 's'} come in`;
    case 'wait':
      return `${seconds(step.ms)} pass`;
    case 'kill ingest':
      return step.afterOperations === null
        ? 'the ingest process is killed'
        : `the ingest process is killed before its ${step.afterOperations + 1}th call to the disk from here`;
    case 'kill worker':
      return 'the worker is killed, and starts again';
    case 'stop ingest':
      return 'the ingest process is stopped';
    case 'start second':
      return 'a second process opens the same journal';
    case 'cut power':
      return step.afterOperations === null
        ? 'the power is cut'
        : `the power is cut before the ${step.afterOperations + 1}th call to the disk from here`;
    case 'fill disk':
      return `the disk is full: ${step.freeBytes} bytes are free`;
    case 'break disk':
      return `the disk refuses ${percent(step.writeErrors)} of writes and ${percent(step.syncErrors)} of syncs`;
    case 'make read-only':
      return 'the disk is read-only';
    case 'slow disk':
      return 'the disk is slow: a sync takes up to three seconds';
    case 'mend disk':
      return 'the disk is whole again';
    case 'set clock':
      return step.ms === 0
        ? 'the wall clock is set right'
        : `the wall clock is set ${seconds(Math.abs(step.ms))} ${step.ms > 0 ? 'ahead' : 'behind'}`;
    case 'sleep':
      return `the machine sleeps for ${seconds(step.ms)}`;
    case 'stop PostgreSQL':
      return 'PostgreSQL is down';
    case 'start PostgreSQL':
      return 'PostgreSQL is up';
    case 'fail PostgreSQL over':
      return 'PostgreSQL goes back to an older state';
    case 'copy files':
      return 'the files of the journal are copied';
    case 'restore files':
      return 'the files of the journal are replaced by the copy, which takes a minute for each start since';
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}

function percent(probability: number): string {
  return `${Math.round(probability * 100)} %`;
}
