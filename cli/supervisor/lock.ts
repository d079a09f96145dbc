import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockFile } from '../../core/file-lock.ts';
import { clearRecord, readRecord, writeRecord } from '../processes/record-file.ts';

const LOCK = 'lock';
/** Names the owner of the lock, for messages only. */
const HOLDER = 'supervisor.lock';
const POLL_MS = 50;

export type Lock = {
  /** Makes the next start wait for the lock instead of failing. */
  markStopping(): void;
  release(): void;
};

/** Thrown when another supervisor runs on the same DATA_DIR. */
export class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

/**
 * Takes the lock of a run directory; the system releases it when the process exits. A copy of the directory is not
 * locked. After the first start this needs no free disk space.
 *
 * @param directory `DATA_DIR/run`
 * @param patienceMs time to wait for an owner that is stopping
 * @throws {AlreadyRunning} with the pid of the owner
 */
export async function takeLock(directory: string, patienceMs = 20_000): Promise<Lock> {
  const holderPath = join(directory, HOLDER);
  const deadline = performance.now() + patienceMs;
  let held = lockFile(join(directory, LOCK));
  while (held === null) {
    const holder = readRecord(holderPath);
    const isStopping = holder.kind === 'own' && holder.record.stopping === true;
    if (!isStopping || performance.now() > deadline) {
      const who = holder.kind === 'own' ? `, process ${holder.record.pid},` : '';
      const dataDir = JSON.stringify(dirname(directory));
      throw new AlreadyRunning(`another start${who} already runs on DATA_DIR=${dataDir}`);
    }
    await delay(POLL_MS);
    held = lockFile(join(directory, LOCK));
  }
  const lock = held;
  const note = (write: () => void) => {
    // Failures are ignored, because the file serves only messages and the wait of the next start.
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
