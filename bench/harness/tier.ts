import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Bench } from './bench.ts';

/** A process that prints a ready line first. */
export type Tier = { pid: number; ready: Record<string, unknown>; stop(): Promise<void> };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A tier exits within 3 s. */
const STOP_MS = 10_000;

/**
 * Starts a process of this repository as in production, pinned to cores.
 *
 * @param given.script such as `ingest/main.ts`
 * @param given.cores such as `0`; default: any
 * @param given.profile directory for a CPU profile (`--cpu-prof`), empty: none
 * @throws Error when it exits before it is ready; standard error has the reason
 */
export async function startTier(
  bench: Bench,
  given: {
    script: string;
    args?: string[];
    env?: NodeJS.ProcessEnv;
    cores?: string;
    profile?: string;
    /** Flags of Node.js. */
    flags?: string[];
  },
): Promise<Tier> {
  const {
    script,
    args = [],
    env = {},
    cores,
    profile = '',
    flags = ['--disable-warning=ExperimentalWarning'],
  } = given;
  const command = [
    process.execPath,
    ...flags,
    ...(profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
    script,
    ...args,
  ];
  const [file, ...rest] = cores === undefined ? command : ['taskset', '-c', cores, ...command];
  const child = spawn(file ?? '', rest, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ENV_FILE: '', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(late);
  };
  bench.defer(stop);
  const line = await Promise.race([
    firstLine(child.stdout),
    exited.then(([status]) => {
      throw new Error(`${script} exited with ${status}`);
    }),
  ]);
  return { pid: child.pid ?? 0, ready: JSON.parse(line) as Record<string, unknown>, stop };
}

function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
  });
}

/**
 * Runs a process to its end and returns the JSON that it prints.
 *
 * @throws Error when its exit status is not 0
 */
export async function runToEnd<T>(
  bench: Bench,
  given: { script: string; args: string[]; cores?: string; env?: NodeJS.ProcessEnv },
): Promise<T> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', given.script, ...given.args];
  const [file, ...rest] = given.cores === undefined ? command : ['taskset', '-c', given.cores, ...command];
  const child = spawn(file ?? '', rest, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ENV_FILE: '', ...given.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  bench.defer(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`${given.script} exited with ${status}`);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as T;
}
