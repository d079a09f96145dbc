/**
 * Runs a command and prints the CPU time that its processes took, by kind:
 *
 *   node .ci/cpu.ts bash .ci/run
 *
 * Linux only. Exit status: that of the command. A process that lives for less than {@link SAMPLE_MS} may be missed.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 500;
/** Clock ticks of `/proc`. */
const TICKS_PER_SECOND = 100;

/** Kinds by a part of the command line; the first that matches. */
const KINDS: [kind: string, pattern: RegExp][] = [
  ['Chromium', /chromium|chrome/],
  ['ClickHouse', /clickhouse-child/],
  ['Kafka brokers', /\bjava\b/],
  ['PostgreSQL', /postgres|initdb/],
  ['ingest', /dist\/ingest\.js/],
  ['workers', /dist\/workers\.js/],
  ['API', /dist\/api\.js/],
  ['supervisor', /dist\/start\.js/],
  ['hoplog commands', /dist\/hoplog\.js/],
  ['schemathesis', /schemathesis/],
  ['test workers', /vitest\/(dist\/workers|suppress)/],
  ['vitest', /vitest/],
  ['builds and checks', /esbuild|\btsc\b|biome|build\.ts|gcc|cc1/],
  ['installation', /\bnpm\b|\bmvn\b|\bpip\b|apt-get/],
];

type Sample = { pid: number; parent: number; start: string; ticks: number };

/** Returns every process of the machine. */
function processes(): Sample[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? textOf(`/proc/${name}/stat`) : '';
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields.length < 20) return [];
    const [parent, user, system, start] = [1, 11, 12, 19].map((field) => fields[field] ?? '');
    return [
      {
        pid: Number(name),
        parent: Number(parent),
        start: String(start),
        ticks: Number(user) + Number(system),
      },
    ];
  });
}

/** Returns a file's text; empty for a process that has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function kindOf(pid: number): string {
  const command = textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return KINDS.find(([, pattern]) => pattern.test(command))?.[0] ?? 'other';
}

/** Sums the time of a process's descendants, also of those that outlive their parent. */
function createMeter(root: number) {
  const ticksOf = new Map<string, number>();
  const seconds = new Map<string, number>();
  return {
    seconds,
    sample(): void {
      const known = new Set([root]);
      // A parent that started later than its child has an id that was used before.
      for (const { pid, parent, start, ticks } of processes().sort(
        (a, b) => Number(a.start) - Number(b.start),
      )) {
        const key = `${pid} ${start}`;
        if (!known.has(pid) && !known.has(parent) && !ticksOf.has(key)) continue;
        known.add(pid);
        const spent = (ticks - (ticksOf.get(key) ?? 0)) / TICKS_PER_SECOND;
        ticksOf.set(key, ticks);
        if (spent === 0) continue;
        const kind = kindOf(pid);
        seconds.set(kind, (seconds.get(kind) ?? 0) + spent);
      }
    },
  };
}

const [file, ...args] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node .ci/cpu.ts COMMAND [ARGUMENT...]');
const began = performance.now();
const child = spawn(file, args, { stdio: 'inherit' });
const meter = createMeter(child.pid ?? 0);
const timer = setInterval(() => meter.sample(), SAMPLE_MS);
child.on('exit', (status) => {
  clearInterval(timer);
  const rows = [...meter.seconds].sort(([, a], [, b]) => b - a);
  const sum = rows.reduce((all, [, seconds]) => all + seconds, 0);
  const line = (kind: string, seconds: number) => `${kind.padEnd(20)}${seconds.toFixed(0).padStart(6)} s\n`;
  process.stdout.write(`\nCPU time in ${((performance.now() - began) / 1_000).toFixed(0)} s\n`);
  for (const [kind, seconds] of [...rows, ['all', sum] as const]) process.stdout.write(line(kind, seconds));
  process.exitCode = status ?? 1;
});
