import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess, type ProcessRecord, recordOf } from '../processes/identity.ts';
import { followLines } from './child-output.ts';
import { authorization, CLICKHOUSE_USER, configXml, usersXml } from './clickhouse-config.ts';
import { makeDataDir } from './data-dir.ts';
import { freePort } from './free-port.ts';
import { secretIn, writePrivate } from './secret-file.ts';
import type { EmbeddedStore } from './store.ts';

const START_MS = 60_000;
/** A supervisor's stop takes 10 s at most, most of them the tiers'. What is on disk survives a kill. */
const STOP_MS = 3_500;
const CHILD = fileURLToPath(new URL('./clickhouse-child.ts', import.meta.url));

export type ClickHouseOptions = {
  /** Absolute path; everything goes to `<dataDir>/clickhouse`, readable by this user only. */
  dataDir: string;
  log: Logger;
  /** Port on 127.0.0.1; a free one unless given. Given when a restarted server has to keep its address. */
  port?: number;
};

/**
 * Starts ClickHouse as a child process, from the library of the npm package chdb, and waits until it
 * answers. It dies with this process. A server left in the same directory is ended first.
 *
 * @throws Error with what ClickHouse said, when it does not come up within 60 s or this machine has no library
 */
export async function startEmbeddedClickHouse(options: ClickHouseOptions): Promise<EmbeddedStore> {
  const home = join(options.dataDir, 'clickhouse');
  const dataPath = join(home, 'data');
  const record = join(home, 'server.json');
  makeDataDir(options.dataDir);
  mkdirSync(dataPath, { recursive: true, mode: 0o700 });
  await endLeftover(record, options.log);

  const library = clickhouseLibrary();
  const password = secretIn(join(home, 'password'));
  const port = options.port ?? (await freePort());
  writePrivate(join(home, 'users.xml'), usersXml(password));
  writePrivate(join(home, 'config.xml'), configXml({ dataPath, port, password }));

  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, library], {
    cwd: home,
    // Its own process group, so that Ctrl-C in a terminal reaches the supervisor alone, which stops in order.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, TZ: 'UTC' },
  });
  const said = followLines(child.stderr, (line) => {
    // Frames of stack traces, without symbols.
    if (/^\d+\. /.test(line)) return;
    if (/<(Error|Fatal)>/.test(line)) options.log.warn({ store: 'clickhouse' }, line);
    else options.log.debug({ store: 'clickhouse' }, line);
  });
  // A write to a child that has died: its exit is what counts.
  child.stdin?.on('error', () => {});
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  if (child.pid !== undefined) writePrivate(record, JSON.stringify(recordOf(child.pid)));
  try {
    await answers(child, port, password);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`ClickHouse did not start: ${(error as Error).message}\n${said()}`, { cause: error });
  }
  return {
    url: `http://${CLICKHOUSE_USER}:${password}@127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    exited,
    async stop() {
      child.stdin?.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
      rmSync(record, { force: true });
    },
  };
}

/** One process per path: whoever is left from a killed parent ends at its standard input's end; make sure. */
async function endLeftover(path: string, log: Logger): Promise<void> {
  let left: ProcessRecord | null;
  try {
    left = JSON.parse(readFileSync(path, 'utf8')) as ProcessRecord | null;
  } catch {
    return;
  }
  if (left === null) return;
  const gone = await endProcess(left, [
    [null, 5_000],
    ['SIGTERM', 3_000],
    ['SIGKILL', 5_000],
  ]);
  if (!gone) throw new Error(`the ClickHouse process ${left.pid} of an earlier start does not end`);
  log.debug({ pid: left.pid }, 'no ClickHouse of an earlier start is left');
}

async function answers(child: ChildProcess, port: number, password: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  let last = 'no answer';
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Error(`its process ended with ${child.signalCode ?? child.exitCode}`);
    }
    try {
      last = await selectOne(port, password);
      if (last.trim() === '1') return;
    } catch (error) {
      last = (error as Error).message;
    }
    await delay(25);
  }
  throw new Error(`not ready after ${START_MS / 1000} s: ${last}`);
}

/** Not `fetch`: its connections stay open for a while, and ClickHouse waits 5 s for open ones before it ends. */
function selectOne(port: number, password: string): Promise<string> {
  const headers = { Authorization: authorization(password) };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/?query=SELECT%201', headers, agent: false, timeout: 30_000 },
      (answer) => {
        text(answer).then(resolve, reject);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no answer within 30 s')));
    sent.on('error', reject);
    sent.end();
  });
}

/**
 * Path of the library that the npm package chdb brings for this machine.
 *
 * @throws Error naming CLICKHOUSE_URL as the way out, when there is none
 */
export function clickhouseLibrary(): string {
  const suffix = process.platform === 'linux' ? '-gnu' : '';
  const name = `@chdb/lib-${process.platform}-${process.arch}${suffix}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), 'libchdb.so');
  } catch (error) {
    throw new Error(
      `no embedded ClickHouse for this machine (the package ${name} is not installed): ` +
        'set CLICKHOUSE_URL to a ClickHouse server',
      { cause: error },
    );
  }
}
