import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess, recordOf } from '../processes/identity.ts';

/**
 * Stops the postmaster that a killed supervisor left running on the directory: a second one would refuse to
 * start. Removes the lock file when the process it names is another one by now.
 *
 * @throws Error when it does not stop
 */
export async function stopLeftoverPostgres(directory: string, log: Logger): Promise<void> {
  const lock = join(directory, 'postmaster.pid');
  const pid = lockedBy(lock);
  if (pid === null) return;
  const record = recordOf(pid);
  if (record === null || !commandLine(pid).includes(directory)) {
    rmSync(lock, { force: true });
    return;
  }
  log.info({ pid }, 'stopping the PostgreSQL of an earlier start');
  // SIGINT: "fast" shutdown, ends sessions and writes a checkpoint. SIGQUIT: at once, with recovery at start.
  const gone = await endProcess(record, [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ]);
  if (!gone) throw new Error(`the PostgreSQL process ${pid} of an earlier start does not stop`);
}

function lockedBy(lock: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(lock, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

function commandLine(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
