import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { PROGRAMS, type ProgramName } from '../../cli/programs/programs.ts';

/** Clock ticks per second in `/proc`; 100 on every Linux. */
const TICKS = 100;

/**
 * Returns user and system seconds of a process with all threads, and of its exited children, so that the sum of a
 * process tree never decreases. 0 for an exited process.
 */
export function cpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    // proc(5): utime, stime, cutime, and cstime are fields 14 to 17; `fields` starts with the third.
    return [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) / TICKS;
  } catch {
    return 0;
  }
}

/** Returns user and system seconds of the exited children of this process. */
export function childrenCpuSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

/** Returns the resident memory of a process, MiB. */
export function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Returns a process and its descendants. */
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

/** Parts of a service by command line, as bundle or source. */
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
 * Returns the CPU seconds of each part of the service of a supervisor.
 *
 * @param elsewhere parts that the supervisor does not run
 * @throws Error when another part has no process
 */
export function cpuByPart(supervisor: number, elsewhere: readonly string[] = []): Map<string, number> {
  return new Map(
    [...processesByPart(supervisor, elsewhere)].map(([part, pids]) => [
      part,
      pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
    ]),
  );
}

/**
 * Returns the processes of each part of the service of a supervisor.
 *
 * @param elsewhere parts that the supervisor does not run
 * @throws Error when another part has no process
 */
export function processesByPart(
  supervisor: number,
  elsewhere: readonly string[] = [],
): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const pid of family(supervisor)) {
    const command = commandOf(pid);
    const part = PARTS.find(([, ...signs]) => signs.some((sign) => command.includes(sign)))?.[0];
    if (part !== undefined) found.set(part, [...(found.get(part) ?? []), pid]);
  }
  for (const [part] of PARTS)
    if (!found.has(part) && !elsewhere.includes(part))
      throw new Error(`the service has no process of ${part}`);
  return found;
}

/**
 * Returns the proportional memory of a process, with shared pages divided among their processes. Bytes; 0 if exited.
 */
export function proportionalBytes(pid: number): number {
  try {
    const sums = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(sums)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Returns how often the threads of a process have woken from a wait; 0 if exited. */
export function wakeUps(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const counts = threads.map((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
      return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    });
    return counts.reduce((sum, one) => sum + one, 0);
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the usage between two measurements. */
export function used(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Map<string, number> {
  return new Map([...after].map(([part, seconds]) => [part, seconds - (before.get(part) ?? 0)]));
}

/** Asserts two cores. @throws Error on a machine with one core */
export function requireTwoCores(): void {
  if (cpus().length < 2)
    throw new Error('the benchmark needs two cores: one for the measured process, one for the load');
  execFileSync('taskset', ['--version'], { stdio: 'ignore' });
}

/**
 * Pins this process to cores other than 0, which the measured process needs alone.
 *
 * @throws Error on a machine with one core
 */
export function leaveCore0(): void {
  requireTwoCores();
  pin(process.pid, '1');
}

/** Pins a process with all current and later threads to cores, such as `0` or `0,1`. */
export function pin(pid: number, cores: string): void {
  execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' });
}
