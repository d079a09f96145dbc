import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { PROGRAM_ENV, programArguments } from './program.ts';
import type { StoreAddresses, TestStores } from './stores.ts';

export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/** The result of a command. */
export type Ended = { status: number | null; stdout: string; stderr: string };

/** Options of `expect.poll` for a command, each of which takes a fifth of a second of a core. */
export const EACH_SECOND = { interval: 1_000 };

/** Runs `hoplog` in a process of its own, with only `PATH` and `HOME` of this one's environment. */
export function hoplog(args: string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return run(process.execPath, [...programArguments('hoplog'), ...args], env);
}

/** Runs any program, in the checkout by default. */
export async function run(
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  cwd = CHECKOUT,
): Promise<Ended> {
  const child = spawn(file, args, {
    cwd,
    env: { ...PROGRAM_ENV, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { status, stdout, stderr };
}

/** Runs commands on one test file's databases. The first one creates the tables in ClickHouse. */
export function operator(stores: StoreAddresses & Partial<Pick<TestStores, 'createTables'>>, more = {}) {
  const {
    databaseUrl,
    databaseDirectUrl = databaseUrl,
    databaseOwnerUrl,
    clickhouseUrl,
    clickhouseDatabase,
  } = stores;
  const env = {
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: databaseDirectUrl,
    DATABASE_OWNER_URL: databaseOwnerUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    CLICKHOUSE_DATABASE: clickhouseDatabase,
    SHORT_URL: 'https://hop.example',
    ...more,
  };
  const command = async (args: string[]) => {
    await stores.createTables?.();
    return hoplog(args, env);
  };
  return {
    env,
    run: (...args: string[]) => command(args),
    /** Runs a command with `--json` that must succeed, and returns its output. */
    async json<T>(...args: string[]): Promise<T> {
      const ended = await command([...args, '--json']);
      expect(ended).toMatchObject({ status: 0 });
      return JSON.parse(ended.stdout) as T;
    },
    /** Runs a command that must fail in this way, print nothing on standard output, and say why. */
    async refused(status: 1 | 2, why: RegExp, ...args: string[]): Promise<void> {
      const ended = await command(args);
      expect(ended).toMatchObject({ status, stdout: '' });
      expect(ended.stderr).toMatch(why);
    },
  };
}
