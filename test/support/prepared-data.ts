import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { until } from './until.ts';

/** Limit for a start on a loaded machine, for which another process waits. Milliseconds. */
const PREPARED_MS = 150_000;

/**
 * Fills a DATA_DIR that does not exist with migrated, empty databases. Each is a copy of the one that the first caller
 * of a test run creates: creating both databases takes a third of a first start's work.
 *
 * @param make starts the service on a directory, and interrupts the start after the migrations
 */
export async function prepareDataDir(
  dataDir: string,
  make: (dataDir: string) => Promise<unknown>,
): Promise<void> {
  const prepared = process.env.TEST_PREPARED_DATA;
  // Benchmarks start services too, without a test run.
  if (prepared === undefined || existsSync(dataDir)) return;
  while (!existsSync(prepared)) {
    const lock = `${prepared}.lock`;
    if (!taken(lock)) {
      const isOver = () => existsSync(prepared) || !existsSync(lock);
      await until('the prepared DATA_DIR', isOver, Boolean, { timeoutMs: PREPARED_MS });
      continue;
    }
    try {
      const making = `${prepared}.making`;
      await make(making);
      renameSync(making, prepared);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  mkdirSync(dirname(dataDir), { recursive: true });
  // Preserves the owners, because root gives DATA_DIR to an ordinary user.
  await promisify(execFile)('cp', ['-a', prepared, dataDir]);
}

/** Takes the lock. Returns whether this process has it now. */
function taken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
