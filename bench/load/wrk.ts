import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { childrenCpuSeconds } from '../harness/processes.ts';
import type { LoadPlan, LoadResult } from './plan.ts';

const SCRIPT = fileURLToPath(new URL('./wrk.lua', import.meta.url));

/**
 * Runs `wrk` in a closed loop with one thread on one core. It needs less CPU than our own generator. A status of 400 or
 * above is an error. It ignores `warmUpSeconds`.
 */
export async function driveWithWrk(plan: LoadPlan, core: string): Promise<LoadResult> {
  const lists = mkdtempSync(join(tmpdir(), 'hoplog-wrk-'));
  try {
    writeLists(lists, plan);
    return await run(plan, lists, core);
  } finally {
    rmSync(lists, { recursive: true, force: true });
  }
}

function writeLists(lists: string, { hot, cold, heads }: LoadPlan): void {
  mkdirSync(lists, { recursive: true });
  const write = (name: string, lines: string[]) => writeFileSync(join(lists, name), `${lines.join('\n')}\n`);
  write('hot', hot);
  write('cold', cold);
  write(
    'heads',
    heads.map((head) => head.replaceAll('\r\n', '\t')),
  );
}

async function run(plan: LoadPlan, lists: string, core: string): Promise<LoadResult> {
  const { connections, seconds, port, coldShare } = plan;
  const cpuBefore = childrenCpuSeconds();
  const child = spawn(
    'taskset',
    [
      '-c',
      core,
      'wrk',
      '-t1',
      `-c${connections}`,
      `-d${seconds}`,
      '--timeout',
      '5',
      '-s',
      SCRIPT,
      `http://127.0.0.1:${port}`,
    ],
    {
      env: { PATH: process.env.PATH, BENCH_LISTS: lists, BENCH_COLD_SHARE: String(coldShare) },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const found = /^RESULT (.*)$/m.exec(output)?.[1]?.split(' ').map(Number);
  if (!found) throw new Error(`cannot parse the output of wrk:\n${output}`);
  const [micros = 0, answered = 0, failed = 0, ...latencies] = found;
  const [p50 = 0, p99 = 0, p999 = 0, max = 0] = latencies.map((latency) => latency / 1_000);
  const took = micros / 1e6;
  return {
    seconds: took,
    answered,
    total: answered,
    failed,
    perSecond: answered / took,
    p50,
    p99,
    p999,
    max,
    lateness: 0,
    paused: 0,
    cpu: childrenCpuSeconds() - cpuBefore,
  };
}
