import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { chooseFault, type Fault, type Touched } from './faults.ts';
import { createHeapProbe, probedAt } from './inspector.ts';
import type { MemoryCourse } from './memory.ts';
import { createRandom } from './random.ts';
import { reportIdle, reportSoak } from './report.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hoplog-soak-report-'));
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

function fault(touched: Touched, weight: number): Fault {
  const strike = async () => ({ struck: touched, mend: async () => undefined });
  return { name: touched, touches: [touched], weight, away: [0, 1], strike };
}
const FAULTS = [fault('ingest', 3), fault('kafka', 1), fault('postgres', 0)];

function choices(seed: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: 200 }, () => chooseFault(FAULTS, random, null).name);
}

test('the same seed chooses the same faults, another one others, each by its weight', () => {
  expect(choices(7)).toEqual(choices(7));
  expect(choices(7)).not.toEqual(choices(8));
  const counts = Map.groupBy(choices(7), (name) => name);
  expect([...counts.keys()].sort()).toEqual(['ingest', 'kafka']);
  expect(counts.get('ingest')?.length).toBeGreaterThan(counts.get('kafka')?.length ?? 0);
});

test('a second fault touches another part than the first one', () => {
  const random = createRandom(1);
  const [first = fault('api', 1)] = FAULTS;
  for (let n = 0; n < 50; n++) expect(chooseFault(FAULTS, random, first).name).toBe('kafka');
});

test('while a host is away, no fault touches the processes on it', () => {
  const random = createRandom(1);
  const host: Fault = { ...fault('ingest', 1), name: 'host', touches: ['ingest', 'workers', 'api'] };
  const others = [...FAULTS, fault('workers', 5), host];
  for (let n = 0; n < 50; n++) expect(chooseFault(others, random, host).name).toBe('kafka');
  const [first = host] = FAULTS;
  for (let n = 0; n < 50; n++)
    expect(['kafka', 'workers']).toContain(chooseFault(others, random, first).name);
});

function soaked(
  counted: { lost?: string[]; double?: string[]; missed?: string[] },
  regressions: string[] = [],
  memory: MemoryCourse[] = [],
) {
  const at = Date.now();
  return reportSoak({
    folder,
    kind: 'faults',
    minutes: 1,
    rate: 1,
    seed: 1,
    asked: { answered: new Map([['v', at]]), refused: new Map([[503, 2]]), failed: 0, askedAgain: 0 },
    poller: { seen: new Map([['v', at + 120]]), regressions, polls: () => 1, failures: () => 0 },
    course: { struck: new Map([['kafka', 1]]), quiet: [{ from: at - 1, to: at + 5_000 }], recoveries: [] },
    counted: { lost: [], double: [], missed: [], stored: 1, deadLetters: 0, ...counted },
    watch: { ended: [], mostOnDisk: () => 0 },
    memory: { courses: memory, limit: 0.1, warmUpMs: 600_000 },
  });
}

test('the soak fails when a click is lost, double or missed, and when a watermark goes back', () => {
  expect(soaked({ lost: ['v'] })).toBe(false);
  expect(readFileSync(join(folder, 'soak.txt'), 'utf8')).toMatch(/\nlost +1\n[\s\S]*\nlost: v\n/);
  expect(soaked({ double: ['v'] })).toBe(false);
  expect(soaked({ missed: ['v'] })).toBe(false);
  expect(soaked({}, ['1 after 2'])).toBe(false);
  expect(soaked({})).toBe(true);
  const text = readFileSync(join(folder, 'soak.txt'), 'utf8');
  expect(text).toMatch(/\nredirects refused +2 with 503\n/);
  expect(text).toMatch(/\nvisible after, p99 in quiet times +120 ms \(1 clicks\)\n/);
});

/** A process with a heap of 100 MiB after the warm-up, and this size at the end. */
function course(name: string, endMiB: number | null): MemoryCourse {
  const of = (mib: number) => ({ heap: mib * 2 ** 20, buffers: 0, rss: 2 ** 28, pss: 2 ** 27 });
  const end = endMiB === null ? null : of(endMiB);
  return { name, pid: 7, seenAt: 0, start: of(50), warm: of(100), end };
}

test('the soak fails when a heap has grown by more than a tenth since its process was warm', () => {
  expect(soaked({}, [], [course('workers-0', 109), course('api-0', null)])).toBe(true);
  expect(soaked({}, [], [course('workers-0', 111)])).toBe(false);
  const text = readFileSync(join(folder, 'soak.txt'), 'utf8');
  expect(text).toMatch(/\nworkers-0 +50\.0 +100\.0 +111\.0 +11\.0 %/);
  expect(text).toContain('the heap of workers-0 (7) grew by 11.0 %, more than 10.0 %');
});

test('the idle soak fails when `npm start` takes more memory than its limit at rest', () => {
  const memory = { courses: [], limit: 0.05, warmUpMs: 0 };
  const idle = (mib: number) =>
    reportIdle({
      folder,
      minutes: 1,
      memory,
      rest: new Map([
        ['api', mib * 2 ** 20],
        ['workers', 2 ** 20],
      ]),
    });
  expect(idle(549)).toBe(true);
  expect(idle(550)).toBe(false);
  expect(readFileSync(join(folder, 'soak-idle.txt'), 'utf8')).toContain('551.0 MiB at rest, more than 550');
});

test('the heap of a running process is measured with its threads, without what is no longer needed', async () => {
  const lists = 'Array.from({ length: 1e6 }, (_, at) => ({ at }))';
  const thread = `globalThis.held = ${lists}; setInterval(() => {}, 1e6); require("node:worker_threads").parentPort.postMessage(0)`;
  const script = `
    let garbage = ${lists};
    garbage = null;
    new (require("node:worker_threads").Worker)(${JSON.stringify(thread)}, { eval: true })
      .on("message", () => console.log("ready"));`;
  const child = spawn(process.execPath, ['--eval', script], {
    env: { ...process.env, ...probedAt('127.0.0.1') },
  });
  onTestFinished(() => void child.kill());
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await once(child.stdout, 'data');
  const measure = createHeapProbe(() => log, 60_000);
  const { heap } = await measure(child.pid ?? 0);
  // The thread holds a million objects of 32 bytes and their list, 38 MiB. Uncollected garbage would add as much again.
  expect(heap).toBeGreaterThan(38 * 2 ** 20);
  expect(heap).toBeLessThan(65 * 2 ** 20);
  expect((await measure(child.pid ?? 0)).heap).toBeLessThan(65 * 2 ** 20);
});

test('a process that did not respond is measured once it does', async () => {
  const child = spawn(process.execPath, ['--eval', 'console.log("ready"); setInterval(() => {}, 1e6)'], {
    env: { ...process.env, ...probedAt('127.0.0.1') },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  process.kill(pid, 'SIGUSR1');
  await expect.poll(() => log, { timeout: 60_000 }).toContain('Debugger listening');
  child.kill('SIGSTOP');
  const measure = createHeapProbe(() => log, 2_000);
  await expect(measure(pid)).rejects.toThrow('did not open its inspector');
  child.kill('SIGCONT');
  const measured = await vi.waitFor(() => measure(pid), { timeout: 60_000 });
  expect(measured.heap).toBeGreaterThan(0);
});
