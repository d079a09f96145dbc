import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A process that was seen running: its number alone is not enough, because numbers are used again. */
export type ProcessRecord = {
  pid: number;
  /** When it started, opaque, unlike for any other process that had this number since the machine's first start. */
  started: string;
};

/**
 * What tells this process from a later one with the same number.
 *
 * @returns null when no such process runs (a zombie counts as gone)
 */
export function startOf(pid: number): string | null {
  return process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
}

/** The record of a process that runs now; null when it is gone already. */
export function recordOf(pid: number): ProcessRecord | null {
  const started = startOf(pid);
  return started === null ? null : { pid, started };
}

/** Whether the recorded process itself still runs, not another one under its number. */
export function stillRuns(record: ProcessRecord): boolean {
  return startOf(record.pid) === record.started;
}

/**
 * Ends a process that is not our child: waits, asks with each signal in turn, and waits between them.
 *
 * @param steps signals with the time to wait after each, in milliseconds; `null` is only a wait
 * @returns whether it has gone
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

/** Waits until the recorded process has gone. */
export async function goneWithin(record: ProcessRecord, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms;
  while (Date.now() < deadline) {
    if (!stillRuns(record)) return true;
    await delay(20);
  }
  return !stillRuns(record);
}

/** Sends a signal to a process that may have gone meanwhile. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Linux: the boot's id and field 22 of `/proc/PID/stat`, the start in clock ticks since that boot (proc(5)). */
function startFromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name stands in parentheses and may hold spaces and parentheses itself.
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
