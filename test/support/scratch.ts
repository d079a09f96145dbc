import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** An in-memory file system, on Linux. */
const MEMORY = '/dev/shm';
/** Required free space and memory: six times the peak of a whole run. */
const ROOM_BYTES = 4 * 2 ** 30;
const PREFIX = 'hoplog-tests-';

export type Scratch = { directory: string; remove(): void };

/**
 * Creates a directory in memory for all temporary files of a test run: a disk's file system takes a quarter of a run's
 * time, mostly to allocate the thousands of small files that the databases create and remove. Removes leftovers of
 * killed runs.
 *
 * @param env of the run: a `TMPDIR` of its own is kept
 * @returns null where this memory is missing or too small
 */
export function scratchInMemory(env: NodeJS.ProcessEnv, memory = MEMORY, room = ROOM_BYTES): Scratch | null {
  if (env.TMPDIR || !existsSync(memory)) return null;
  removeLeftovers(memory);
  if (Math.min(roomIn(memory), availableMemory()) < room) return null;
  const directory = mkdtempSync(join(memory, `${PREFIX}${process.pid}-`));
  chmodSync(directory, 0o1777); // like /tmp: some tests run as another user
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

function removeLeftovers(memory: string): void {
  for (const name of readdirSync(memory)) {
    const [, pid] = name.match(`^${PREFIX}(\\d+)-`) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(memory, name), { recursive: true, force: true });
  }
}

function roomIn(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Memory available to processes, including reclaimable caches. Bytes. */
function availableMemory(): number {
  const [, kib] = readFileSync('/proc/meminfo', 'utf8').match(/^MemAvailable:\s+(\d+) kB$/m) ?? [];
  return Number(kib ?? 0) * 1024;
}
