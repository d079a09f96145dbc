import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for one test, removed by `remove()`. */
export function temporaryDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'hoplog-supervisor-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Writes a program of one test into the directory. */
export function programIn(directory: string, name: string, source: string): string {
  const path = join(directory, name);
  writeFileSync(path, source);
  return path;
}

/** Starts a program in the background, and waits for its first output. */
export async function runningProgram(source: string): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, ['-e', `${source}; console.log('up')`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  if (child.pid === undefined) throw new Error('the program did not start');
  return Object.assign(child, { pid: child.pid });
}

/** Kills the program and waits until it is gone. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
