import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { PROGRAMS, type ProgramName } from '../../cli/programs/programs.ts';

/** Clock ticks a second in `/proc`; 100 on every Linux. */
const TICKS = 100;

/**
 * User and system seconds of a process with all its threads, and of its children that have ended: a family's sum
 * loses nothing when one of it ends. 0 for a process that is gone.
 */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    // utime, stime, cutime, cstime: fields 14 to 17 of proc(5), here from the third one on.
    return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) / TICKS;
  } catch {
    return 0;
  }
}

/** Resident memory of a process, MiB. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** A process and all below it. */
export function family(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = parentOf(Number(name));
    if (parent !== null) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function parentOf(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return null;
  }
}

/** Parts of a running service, by what their command lines say: programs run as bundles or from their sources. */
const PARTS: readonly (readonly [part: string, ...signs: string[]])[] = [
  ['ingest', ...programSigns('ingest')],
  ['workers', ...programSigns('workers')],
  ['api', ...programSigns('api')],
  ['ClickHouse', 'clickhouse-child'],
  ['PostgreSQL', 'postgres'],
  ['supervisor', ...programSigns('start')],
];

function programSigns(name: ProgramName): string[] {
  return [`dist/${name}.js`, PROGRAMS[name]];
}

/**
 * CPU seconds so far of each part of the service whose supervisor this is.
 *
 * @throws Error when a part has no process: its cost would be missing
 */
export function cpuByPart(supervisor: number): Map<string, number> {
  const used = new Map<string, number>();
  for (const pid of family(supervisor)) {
    const command = commandOf(pid);
    const part = PARTS.find(([, ...signs]) => signs.some((sign) => command.includes(sign)))?.[0];
    if (part !== undefined) used.set(part, (used.get(part) ?? 0) + cpuSeconds(pid));
  }
  for (const [part] of PARTS) if (!used.has(part)) throw new Error(`the service has no process of ${part}`);
  return used;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** What was used between two looks. */
export function used(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map([...after].map(([part, seconds]) => [part, seconds - (before.get(part) ?? 0)]));
}

/** @throws Error on a machine where two processes can't be kept on a core each */
export function requireTwoCores(): void {
  if (cpus().length < 2) throw new Error('this needs two cores: one for what is measured, one for the load');
  execFileSync('taskset', ['--version'], { stdio: 'ignore' });
}

/**
 * Keeps this process, which has little to do, away from core 0, where whoever is measured is alone then.
 *
 * @throws Error on a machine with one core
 */
export function leaveCore0(): void {
  requireTwoCores();
  pin(process.pid, '1');
}

/** Keeps a process with all its threads, and those that it starts later, on these cores, such as `0` or `0,1`. */
export function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' });
}
