import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Identity of a process. The pid alone is not enough, because the system reuses pids. */
export type ProcessRecord = {
  pid: number;
  /** Opaque start time; unique among all processes with this pid, across reboots. */
  started: string;
};

/**
 * Returns the opaque start time that distinguishes a process from later ones with the same pid.
 *
 * @returns null when no such process runs; a zombie does not count
 */
export function startOf(pid: number): string | null {
  return process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
}

/** Returns the record of a running process, or null if it has exited. */
export function recordOf(pid: number): ProcessRecord | null {
  const started = startOf(pid);
  return started === null ? null : { pid, started };
}

/** Checks that the recorded process still runs, and not another one with its pid. */
export function stillRuns(record: ProcessRecord): boolean {
  return startOf(record.pid) === record.started;
}

/**
 * Ends a process that is not a child: sends each signal in turn and waits after each.
 *
 * @param steps signals with the time to wait after each, in milliseconds; `null` only waits
 * @returns whether the process has exited
 */
export async function endProcess(
  record: ProcessRecord,
  steps: readonly (readonly [signal: NodeJS.Signals | null, waitMs: number])[],
): Promise<boolean> {
  for (const [signal, waitMs] of steps) {
    if (!stillRuns(record)) return true;
    if (signal !== null) send(record.pid, signal);
    if (await goneWithin(record, waitMs)) return true;
  }
  return !stillRuns(record);
}

/** Waits until the recorded process has exited. Returns whether it has. */
async function goneWithin(record: ProcessRecord, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline) {
    if (!stillRuns(record)) return true;
    await delay(20);
  }
  return !stillRuns(record);
}

/** Sends a signal to a process; does nothing if it has exited. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Returns the boot id and field 22 of `/proc/PID/stat`, the start in clock ticks since boot; see proc(5). */
function startFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name is in parentheses and may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${bootId()}:${fields[19]}`;
  } catch {
    return null;
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'boot';
  }
}

function startFromPs(pid: number): string | null {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text === '' || text.startsWith('Z') ? null : text.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}
