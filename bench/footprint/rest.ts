import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuSeconds, processesByPart, proportionalBytes, wakeUps } from '../harness/processes.ts';
import { memoryAlone } from './pages.ts';

/** The resources of an idle part of the service. */
export type PartAtRest = {
  processes: number;
  /** Proportional memory at the end: shared pages are divided among their processes. */
  pssBytes: number;
  /** Growth of that memory: the slope of a line through a sample each minute. */
  pssBytesPerHour: number;
  /** CPU seconds a second. */
  cpu: number;
  wakeUpsPerSecond: number;
};

/** Disk writes of an idle service. */
export type DiskAtRest = { bytesPerDay: number; flushesPerSecond: number };

export type AtRest = { parts: Map<string, PartAtRest>; disk: DiskAtRest | null };

/** Limit of the proportional memory of all parts of an idle service, MiB. */
export const AT_REST_MIB = 550;

const SECTOR_BYTES = 512;
const SECONDS_PER_DAY = 86_400;
const SAMPLE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Fields of `/sys/block/<device>/stat`, from 0. */
const WRITTEN_SECTORS = 6;
const FLUSHES = 15;

type Counts = { cpu: number; wakeUps: number };

/**
 * Watches an idle service.
 *
 * @param device block device that has only its data directory, such as `loop0`; null: its disk is not measured
 * @param writeOut flushes memory to the disk before its last count, because a checkpoint's writes belong to the
 * measured time
 */
export async function watchAtRest(given: {
  supervisor: number;
  device: string | null;
  seconds: number;
  writeOut: () => Promise<void>;
}): Promise<AtRest> {
  const { supervisor, device, seconds, writeOut } = given;
  const began = performance.now();
  const before = countsByPart(supervisor);
  const diskBefore = device === null ? null : diskCounts(device);
  const samples = await sampleMemory(supervisor, seconds * 1_000);
  const after = countsByPart(supervisor);
  await writeOut();
  const diskAfter = device === null ? null : diskCounts(device);
  const elapsed = (performance.now() - began) / 1_000;
  const parts = new Map<string, PartAtRest>();
  for (const [part, { processes, pssBytes }] of memoryByPart(supervisor)) {
    const [then, now] = [before.get(part), after.get(part)];
    parts.set(part, {
      processes,
      pssBytes,
      pssBytesPerHour: slopePerHour(samples.map(({ atMs, parts }) => [atMs, parts.get(part)?.pssBytes ?? 0])),
      cpu: ((now?.cpu ?? 0) - (then?.cpu ?? 0)) / elapsed,
      wakeUpsPerSecond: ((now?.wakeUps ?? 0) - (then?.wakeUps ?? 0)) / elapsed,
    });
  }
  const disk = diskBefore &&
    diskAfter && {
      bytesPerDay: ((diskAfter.bytes - diskBefore.bytes) / elapsed) * SECONDS_PER_DAY,
      flushesPerSecond: (diskAfter.flushes - diskBefore.flushes) / elapsed,
    };
  return { parts, disk };
}

type Sample = { atMs: number; parts: ReturnType<typeof memoryByPart> };

/** Samples the memory of all parts each minute, and at the beginning and the end. */
async function sampleMemory(supervisor: number, forMs: number): Promise<Sample[]> {
  const began = performance.now();
  const samples: Sample[] = [];
  for (;;) {
    const atMs = performance.now() - began;
    samples.push({ atMs, parts: memoryByPart(supervisor) });
    if (atMs >= forMs) return samples;
    await delay(Math.min(SAMPLE_MS, forMs - atMs));
  }
}

/** Returns the slope of the line of least squares. @param points milliseconds and value */
export function slopePerHour(points: readonly (readonly [atMs: number, value: number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const [atMean, valueMean] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  const spread = mean(points.map(([at]) => (at - atMean) ** 2));
  if (spread === 0) return 0;
  return (mean(points.map(([at, value]) => (at - atMean) * (value - valueMean))) / spread) * HOUR_MS;
}

/** Returns the proportional memory of each part of a service, as if it were alone, if this process may read that. */
export function memoryByPart(supervisor: number): Map<string, { processes: number; pssBytes: number }> {
  const running = processesByPart(supervisor);
  const memory = memoryOf([...running.values()].flat());
  return new Map(
    [...running].map(([part, pids]) => [
      part,
      {
        processes: pids.length,
        pssBytes: pids.reduce((sum, pid) => sum + (memory.get(pid) ?? 0), 0),
      },
    ]),
  );
}

/** Returns memory as if the service were alone on the machine, if this process may read that. */
function memoryOf(pids: readonly number[]): ReadonlyMap<number, number> {
  if (process.getuid?.() === 0) return memoryAlone(pids);
  return new Map(pids.map((pid) => [pid, proportionalBytes(pid)]));
}

function countsByPart(supervisor: number): Map<string, Counts> {
  return new Map(
    [...processesByPart(supervisor)].map(([part, pids]) => [
      part,
      {
        cpu: pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
        wakeUps: pids.reduce((sum, pid) => sum + wakeUps(pid), 0),
      },
    ]),
  );
}

/**
 * Counted at the device, because `/proc/<pid>/io` lacks the file system's own writes, and counts rewritten pages once.
 */
function diskCounts(device: string): { bytes: number; flushes: number } {
  const fields = readFileSync(`/sys/block/${device}/stat`, 'utf8').trim().split(/\s+/).map(Number);
  return { bytes: (fields[WRITTEN_SECTORS] ?? 0) * SECTOR_BYTES, flushes: fields[FLUSHES] ?? 0 };
}
