import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockFile } from '../../core/file-lock.ts';
import { clearRecord, readRecord, writeRecord } from '../processes/record-file.ts';

const LOCK = 'lock';
/** Names the process that has the lock; the lock does not rest on it. */
const HOLDER = 'supervisor.lock';
const POLL_MS = 50;

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
 * Takes the one lock of a run directory, which the system frees with the process. A copy of the directory is not locked, and a
 * full disk is no obstacle after the first start.
 *
 * @param directory `DATA_DIR/run`
 * @param patienceMs how long to wait for a holder that is stopping
 * @throws {AlreadyRunning} with the holder's process number
 */
export async function takeLock(directory: string, patienceMs = 20_000): Promise<Lock> {
  const holderPath = join(directory, HOLDER);
  const deadline = Date.now() + patienceMs;
  let held = lockFile(join(directory, LOCK));
  while (held === null) {
    const holder = readRecord(holderPath);
    const isStopping = holder.kind === 'own' && holder.record.stopping === true;
    if (!isStopping || Date.now() > deadline) {
      const who = holder.kind === 'own' ? `, process ${holder.record.pid},` : '';
      const dataDir = JSON.stringify(dirname(directory));
      throw new AlreadyRunning(`another start${who} already runs on DATA_DIR=${dataDir}`);
    }
    await delay(POLL_MS);
    held = lockFile(join(directory, LOCK));
  }
  const lock = held;
  const note = (write: () => void) => {
    // It only serves messages and the waiting of a next start: a disk that refuses it stops nothing.
    try {
      write();
    } catch {}
  };
  note(() => writeRecord(holderPath, process.pid));
  return {
    markStopping: () => note(() => writeRecord(holderPath, process.pid, { stopping: true })),
    release() {
      note(() => clearRecord(holderPath));
      lock.release();
    },
  };
}
