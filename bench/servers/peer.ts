import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from '../harness/bench.ts';

/**
 * Starts another server of redirects, pinned to cores, and waits until it redirects. It is ended with the benchmark.
 *
 * @param command the program and its arguments
 * @throws Error when it exits before
 */
export async function startPeer(
  bench: Bench,
  given: { command: readonly string[]; cores: string; port: number },
): Promise<{ pid: number }> {
  const child = spawn('taskset', ['-c', given.cores, ...given.command], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  bench.defer(async () => {
    child.kill('SIGTERM');
    await exited;
  });
  while (!(await redirects(given.port))) {
    if (child.exitCode !== null) throw new Error(`${given.command[0]} exited with ${child.exitCode}`);
    await delay(20);
  }
  return { pid: child.pid ?? 0 };
}

async function redirects(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })).status === 302;
  } catch {
    return false;
  }
}
