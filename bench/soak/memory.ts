import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { number } from '../harness/report.ts';
import type { Heap, HeapProbe } from './inspector.ts';

/** Bytes at one time. `pss`: resident memory with shared pages divided among their processes. */
export type Memory = Heap & { rss: number; pss: number };

/** Memory of a process when it was first seen, after the warm-up, and at the end. */
export type MemoryCourse = {
  name: string;
  pid: number;
  seenAt: number;
  start: Memory;
  warm: Memory | null;
  end: Memory | null;
};

export type MemoryWatch = {
  /** Measures the running processes a last time and stops. @returns all processes, by name */
  finish(): Promise<MemoryCourse[]>;
};

const LOOK_EVERY_MS = 1_000;
/** Hazard: before Node.js handles it, the signal that opens the inspector ends the process. */
const STARTING_MS = 10_000;
const MIB = 2 ** 20;

/**
 * Measures each process three times: at its start, after `warmUpMs`, and at the end. A killed process has no later
 * measurements; its successor starts over.
 *
 * @param processes returns the running processes
 */
export function startMemoryWatch(given: {
  processes: () => { name: string; pid: number }[];
  measure: HeapProbe;
  warmUpMs: number;
  say: (text: string) => void;
}): MemoryWatch {
  const { processes, warmUpMs, say } = given;
  const courses = new Map<number, MemoryCourse>();
  const seen = new Map<number, number>();
  const stopping = new AbortController();

  async function measure(name: string, pid: number): Promise<Memory | null> {
    try {
      return { ...(await given.measure(pid)), ...resident(pid) };
    } catch (error) {
      // Faults end processes. A hung one is measured the next time.
      say(`the memory of ${name} was not measured: ${error instanceof Error ? error.message : error}`);
      return null;
    }
  }

  async function look(): Promise<void> {
    for (const { name, pid } of processes()) {
      if (stopping.signal.aborted) return;
      const course = courses.get(pid);
      const seenAt = seen.get(pid) ?? Date.now();
      seen.set(pid, seenAt);
      if (!course) {
        if (Date.now() - seenAt < STARTING_MS) continue;
        const start = await measure(name, pid);
        if (start) courses.set(pid, { name, pid, seenAt, start, warm: null, end: null });
      } else if (!course.warm && Date.now() - course.seenAt >= warmUpMs) {
        course.warm = await measure(name, pid);
      }
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look();
      await delay(LOOK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  async function finish(): Promise<MemoryCourse[]> {
    stopping.abort();
    await running;
    for (const { name, pid } of processes()) {
      const course = courses.get(pid);
      if (course) course.end = await measure(name, pid);
    }
    return [...courses.values()].sort((a, b) => a.name.localeCompare(b.name) || a.seenAt - b.seenAt);
  }

  const running = run();
  let finished: Promise<MemoryCourse[]> | null = null;
  return {
    finish() {
      finished ??= finish();
      return finished;
    },
  };
}

function resident(pid: number): { rss: number; pss: number } {
  const sums = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kibibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(sums)?.[1] ?? 0);
  return { rss: kibibytes('Rss') * 1_024, pss: kibibytes('Pss') * 1_024 };
}

/** Returns the growth of the heap since the warm-up, a fraction; null for a process that exited earlier. */
export function heapGrowth({ warm, end }: MemoryCourse): number | null {
  return warm && end ? end.heap / warm.heap - 1 : null;
}

/** Returns a sentence for each process whose heap has grown by more than `limit` (a fraction) since its warm-up. */
export function grown(courses: readonly MemoryCourse[], limit: number): string[] {
  return courses.flatMap((course) => {
    const growth = heapGrowth(course) ?? 0;
    if (growth <= limit) return [];
    return [
      `the heap of ${course.name} (${course.pid}) grew by ${percent(growth)}, more than ${percent(limit)}`,
    ];
  });
}

/** Returns table rows of heap after a forced collection, and resident memory, without processes that faults ended. */
export function memoryTable(courses: readonly MemoryCourse[], warmUpMs: number) {
  return {
    title: `Memory in MiB: heap after a forced collection, of all threads; warm after ${number(warmUpMs / 60_000)} minutes`,
    header: [
      'Process',
      'Heap at start',
      'warm',
      'end',
      'growth',
      'Buffers at end',
      'RSS at start',
      'warm',
      'end',
      'PSS',
    ],
    rows: courses
      .filter(({ end }) => end !== null)
      .map((course) => {
        const { name, start, warm, end } = course;
        const growth = heapGrowth(course);
        return [
          name,
          mib(start.heap),
          mib(warm?.heap),
          mib(end?.heap),
          growth === null ? '–' : percent(growth),
          mib(end?.buffers),
          mib(start.rss),
          mib(warm?.rss),
          mib(end?.rss),
          mib(end?.pss),
        ];
      }),
  };
}

function mib(bytes: number | undefined): string {
  return bytes === undefined ? '–' : number(bytes / MIB, 1);
}

function percent(share: number): string {
  return `${number(share * 100, 1)} %`;
}
