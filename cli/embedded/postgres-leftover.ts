import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess, type ProcessRecord, recordOf, stillRuns } from '../processes/identity.ts';
import { readRecord } from '../processes/record-file.ts';

/**
 * Stops the postmaster of a killed supervisor, so that a new one can start. Removes the lock file if the process in it
 * is not a PostgreSQL of this directory: its pid was reused, or this directory is a copy.
 *
 * @param recordFile record of the last postmaster
 * @throws Error when the postmaster does not stop
 */
export async function stopLeftoverPostgres(
  directory: string,
  recordFile: string,
  log: Logger,
): Promise<void> {
  const lock = join(directory, 'postmaster.pid');
  const left = leftover(directory, recordFile, lockedBy(lock));
  if (left === null) {
    rmSync(lock, { force: true });
    return;
  }
  log.info({ pid: left.pid }, 'stopping the PostgreSQL of an earlier start');
  // SIGINT: fast shutdown with a checkpoint. SIGQUIT: immediate, with recovery at the next start.
  const gone = await endProcess(left, [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ]);
  if (!gone)
    throw new Error(`the PostgreSQL process ${left.pid} of an earlier start did not exit after SIGKILL`);
}

/** Returns the postmaster of this directory named by the record, else by the lock file; null if none runs. */
function leftover(directory: string, recordFile: string, lockedPid: number | null): ProcessRecord | null {
  const recorded = readRecord(recordFile);
  const candidates = [
    recorded.kind === 'own' ? recorded.record : null,
    lockedPid === null ? null : recordOf(lockedPid),
  ];
  for (const candidate of candidates) {
    // Checks the start time before and after, which proves that the pid was not reused in between.
    if (candidate !== null && isPostgresOf(directory, candidate.pid) && stillRuns(candidate))
      return candidate;
  }
  return null;
}

function lockedBy(lock: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(lock, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

/**
 * Checks that the process is the postmaster of this directory: by its working directory on Linux, elsewhere by `-D`.
 */
function isPostgresOf(directory: string, pid: number): boolean {
  const [program = '', ...args] = commandLine(pid);
  const flag = args.indexOf('-D');
  if (basename(program) !== 'postgres' || flag < 0) return false;
  return isSame(process.platform === 'linux' ? `/proc/${pid}/cwd` : (args[flag + 1] ?? ''), directory);
}

function isSame(one: string, other: string): boolean {
  try {
    const [a, b] = [statSync(one), statSync(other)];
    return a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}

function commandLine(pid: number): string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(' ');
  } catch {
    return [];
  }
}
