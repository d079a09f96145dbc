import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** A file system in memory, on Linux. */
const MEMORY = '/dev/shm';
/** Room there and memory besides: six times what a whole run has at one time. */
const ROOM_BYTES = 4 * 2 ** 30;
const PREFIX = 'hoplog-tests-';

export type Scratch = { directory: string; remove(): void };

/**
 * Makes a directory in memory for all temporary files of a test run: a disk's file system takes a quarter of a run's
 * time, most of it to find room for the thousands of small files that the stores make and remove. Removes what runs that
 * were killed have left there.
 *
 * @param env of the run: a `TMPDIR` of its own stays
 * @returns null where there is no such memory, or too little
 */
export function scratchInMemory(env: NodeJS.ProcessEnv, memory = MEMORY, room = ROOM_BYTES): Scratch | null {
  if (env.TMPDIR || !existsSync(memory)) return null;
  removeLeftovers(memory);
  if (Math.min(roomIn(memory), availableMemory()) < room) return null;
  const directory = mkdtempSync(join(memory, `${PREFIX}${process.pid}-`));
  chmodSync(directory, 0o1777); // as /tmp: some tests run as another user
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

/** Bytes that processes can still have, whatever the caches hold now. */
function availableMemory(): number {
  const [, kib] = readFileSync('/proc/meminfo', 'utf8').match(/^MemAvailable:\s+(\d+) kB$/m) ?? [];
  return Number(kib ?? 0) * 1024;
}
