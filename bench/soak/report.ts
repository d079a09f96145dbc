import { AT_REST_MIB } from '../footprint/rest.ts';
import { number, report } from '../harness/report.ts';
import { quantile } from '../harness/statistics.ts';
import type { Account } from './account.ts';
import type { Course } from './conduct.ts';
import type { Asked } from './load.ts';
import { grown, type MemoryCourse, memoryTable } from './memory.ts';
import type { Poller } from './poller.ts';
import type { Watch } from './watch.ts';

/** Memory of the processes, and the permitted growth of a heap after the warm-up, a fraction. */
export type Memory = { courses: readonly MemoryCourse[]; limit: number; warmUpMs: number };

type Polled = Pick<Poller, 'seen' | 'regressions' | 'polls' | 'failures'>;

const REPORTS = {
  faults: {
    name: 'soak',
    title:
      'Is a click lost or counted twice when random parts of the scaled deployment are killed under load?',
  },
  hosts: {
    name: 'soak-hosts',
    title: 'Is a click lost or counted twice when one of two hosts loses its networks or dies under load?',
  },
  calm: { name: 'soak-calm', title: 'Does a process of the scaled deployment grow under a steady load?' },
};

/** Clicks within this time before a fault are excluded from quiet times. */
const BEFORE_FAULT_MS = 2_000;

/**
 * Prints the report and writes it to `soak.txt`, `soak-hosts.txt`, or `soak-calm.txt`.
 *
 * @param folder empty: `bench/results`
 * @returns whether no click was lost, duplicated, or missed, no watermark moved back, and no heap exceeded the limit
 */
export function reportSoak(soaked: {
  folder: string;
  /** `calm`: without faults. `hosts`: also of whole hosts. */
  kind: 'faults' | 'hosts' | 'calm';
  minutes: number;
  rate: number;
  seed: number;
  asked: Asked;
  poller: Polled;
  course: Course;
  counted: Account;
  watch: Pick<Watch, 'ended' | 'mostOnDisk'>;
  memory: Memory;
}): boolean {
  const { asked, poller, course, counted, watch, memory } = soaked;
  const leaks = grown(memory.courses, memory.limit);
  const waits = quietWaits(asked, poller, course);
  const refused = [...asked.refused].map(([status, count]) => `${count} with ${status}`);
  const worst = course.recoveries.toSorted((a, b) => b.seconds - a.seconds)[0];
  const faults = [...course.struck].toSorted(([, a], [, b]) => b - a);
  report(soaked.folder, {
    ...REPORTS[soaked.kind],
    versions: [],
    tables: [
      {
        title: `${soaked.minutes} minutes, ${soaked.rate} redirects a second, seed ${soaked.seed}`,
        header: ['What', 'Count'],
        rows: [
          ['clicks answered', number(asked.answered.size)],
          ['clicks stored', number(counted.stored)],
          ['lost', number(counted.lost.length)],
          ['stored twice', number(counted.double.length)],
          ['missed by a poller on since=watermark', number(counted.missed.length)],
          ['watermark went back', number(poller.regressions.length)],
          ['dead letters', number(counted.deadLetters)],
          ['redirects refused', refused.join(', ') || '0'],
          ['redirects without a response', number(asked.failed)],
          ['redirects that another process was asked for', number(asked.askedAgain)],
          ['polls, and those without an answer', `${number(poller.polls())}, ${number(poller.failures())}`],
          ['processes that ended by themselves', watch.ended.join(', ') || '0'],
          ['visible after, p50 in quiet times', `${number(quantile(waits, 0.5))} ms`],
          [
            'visible after, p99 in quiet times',
            `${number(quantile(waits, 0.99))} ms (${number(waits.length)} clicks)`,
          ],
          ['faults', number(faults.reduce((all, [, times]) => all + times, 0))],
          ['longest recovery', worst ? `${worst.seconds.toFixed(1)} s (${worst.after})` : 'none'],
          ['most on disk', `${number(watch.mostOnDisk() / 2 ** 20)} MiB`],
        ],
      },
      { header: ['Fault', 'Times'], rows: faults.map(([name, times]) => [name, number(times)]) },
      memoryTable(memory.courses, memory.warmUpMs),
    ],
    notes: [
      ...examples('lost', counted.lost),
      ...examples('double', counted.double),
      ...poller.regressions,
      ...leaks,
    ],
  });
  return (
    counted.lost.length === 0 &&
    counted.double.length === 0 &&
    counted.missed.length === 0 &&
    poller.regressions.length === 0 &&
    leaks.length === 0
  );
}

/**
 * Prints the memory of an idle deployment and writes it to `soak-idle.txt`.
 *
 * @param soaked.rest proportional memory of the parts of `npm start`, bytes
 * @returns whether no heap grew over the limit, and the memory at rest is below its limit
 */
export function reportIdle(soaked: {
  folder: string;
  minutes: number;
  memory: Memory;
  rest: ReadonlyMap<string, number>;
}): boolean {
  const { courses, limit, warmUpMs } = soaked.memory;
  const all = [...soaked.rest.values()].reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20;
  const problems = grown(courses, limit);
  if (all > AT_REST_MIB)
    problems.push(`npm start takes ${number(all, 1)} MiB at rest, more than ${AT_REST_MIB}`);
  report(soaked.folder, {
    name: 'soak-idle',
    title: `Does a process grow in ${soaked.minutes} minutes in which nothing happens?`,
    versions: [],
    tables: [
      memoryTable(courses, warmUpMs),
      {
        title: 'npm start at the end, as if it were alone',
        header: ['Part', 'PSS, MiB'],
        rows: [
          ...[...soaked.rest].map(([part, bytes]) => [part, number(bytes / 2 ** 20, 1)]),
          ['all', number(all, 1)],
        ],
      },
    ],
    notes: problems,
  });
  return problems.length === 0;
}

/** Returns the sorted delays from redirect to poll of clicks in quiet times, milliseconds. */
function quietWaits(asked: Asked, poller: Polled, { quiet }: Course): number[] {
  const waits: number[] = [];
  for (const [visitor, at] of asked.answered) {
    const seen = poller.seen.get(visitor);
    const isQuiet = quiet.some(({ from, to }) => at >= from && at <= to - BEFORE_FAULT_MS);
    if (seen !== undefined && isQuiet) waits.push(Math.max(0, seen - at));
  }
  return waits.sort((a, b) => a - b);
}

function examples(what: string, visitors: string[]): string[] {
  return visitors.length === 0 ? [] : [`${what}: ${visitors.slice(0, 20).join(', ')}`];
}
