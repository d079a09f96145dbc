import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess, type ProcessRecord, recordOf, stillRuns } from '../processes/identity.ts';
import { readRecord } from '../processes/record-file.ts';

/**
 * Stops the postmaster that a killed supervisor left running on the directory: a second one would refuse to
 * start. Removes the lock file when the process it names is not a PostgreSQL of this very directory: its number has
 * been used again, or this directory is a copy.
 *
 * @param recordFile where the start of the last postmaster is recorded
 * @throws Error when it does not stop
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
  // SIGINT: "fast" shutdown, ends sessions and writes a checkpoint. SIGQUIT: at once, with recovery at start.
  const gone = await endProcess(left, [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ]);
  if (!gone) throw new Error(`the PostgreSQL process ${left.pid} of an earlier start does not stop`);
}

/** The process that the record names by its start time, else the one that the lock file names; null: none of this directory. */
function leftover(directory: string, recordFile: string, lockedPid: number | null): ProcessRecord | null {
  const recorded = readRecord(recordFile);
  const candidates = [
    recorded.kind === 'own' ? recorded.record : null,
    lockedPid === null ? null : recordOf(lockedPid),
  ];
  for (const candidate of candidates) {
    // Looked at between two looks at its start time: what was seen is of this process and of no later one.
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
 * Whether the process is the postmaster of this directory. PostgreSQL works in its data directory, which Linux tells under whatever
 * name; elsewhere `-D` has to name it.
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
