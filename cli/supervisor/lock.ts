import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessRecord, recordOf, stillRuns } from '../processes/identity.ts';

/** The supervisor that has DATA_DIR; `stopping` once it has been asked to end. */
type Holder = ProcessRecord & { stopping?: true };

export type Lock = {
  /** Lets a next start wait for the lock instead of refusing at once. */
  markStopping(): void;
  release(): void;
};

/** Another supervisor runs on the same DATA_DIR. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/**
 * Takes the one lock of a run directory. It is a file that names the process that holds it, so a holder that
 * was killed, or whose number another process has now, holds nothing.
 *
 * @param patienceMs how long to wait for a holder that is stopping
 * @throws {AlreadyRunning} with the holder's process number
 */
export async function takeLock(directory: string, patienceMs = 20_000): Promise<Lock> {
  const path = join(directory, 'supervisor.lock');
  const own = `${path}.${process.pid}`;
  const record = recordOf(process.pid);
  writeFileSync(own, JSON.stringify(record), { mode: 0o600 });
  const deadline = Date.now() + patienceMs;
  try {
    // A link is made whole or not at all, so nobody ever reads a half-written lock.
    while (!linked(own, path)) {
      const text = readOrNull(path);
      if (text === null) continue;
      const holder = parse(text);
      if (holder === null || !stillRuns(holder)) removeStale(path, text);
      else if (!holder.stopping || Date.now() > deadline) {
        throw new AlreadyRunning(`another start, process ${holder.pid}, already runs on this DATA_DIR`);
      } else await delay(50);
    }
  } finally {
    rmSync(own, { force: true });
  }
  const stopping = JSON.stringify({ ...record, stopping: true });
  const mine = () => [JSON.stringify(record), stopping].includes(readOrNull(path) ?? '');
  return {
    markStopping() {
      if (!mine()) return;
      writeFileSync(own, stopping, { mode: 0o600 });
      renameSync(own, path);
    },
    release() {
      if (mine()) rmSync(path, { force: true });
    },
  };
}

/** Moves the stale lock away first: were it deleted by name, another start's fresh one could be hit. */
function removeStale(path: string, staleText: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readOrNull(aside) !== staleText) linked(aside, path);
  rmSync(aside, { force: true });
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function parse(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder | null;
  } catch {
    return null;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
