import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess } from '../processes/identity.ts';
import { readRecord, writeRecord } from '../processes/record-file.ts';
import { overwriteInPlace } from '../processes/standing-file.ts';
import { followLines } from './child-output.ts';
import { authorization, CLICKHOUSE_USER, configXml, usersXml } from './clickhouse-config.ts';
import { makeDataDir, makeOwnDirectory } from './data-dir.ts';
import { freePort } from './free-port.ts';
import { secretIn } from './secret-file.ts';
import { type EmbeddedStore, StoreNotStarted, type StoreToKeep } from './store.ts';

const START_MS = 60_000;
/** A supervisor's stop takes 10 s at most, most of them the tiers'. What is on disk survives a kill. */
const STOP_MS = 3_500;
const CHILD = fileURLToPath(new URL('./clickhouse-child.ts', import.meta.url));

const OLD_CPU =
  ' (this CPU lacks instructions that the embedded ClickHouse needs, such as AVX2: set CLICKHOUSE_URL to a ClickHouse server)';

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
  const store = await embeddedClickHouse(options);
  return store.start(new AbortController().signal);
}

/** Settles the address of an embedded ClickHouse, to be started as often as it takes: {@link startEmbeddedClickHouse}. */
export async function embeddedClickHouse(options: ClickHouseOptions): Promise<StoreToKeep> {
  makeDataDir(options.dataDir);
  const home = join(options.dataDir, 'clickhouse');
  makeOwnDirectory(options.dataDir, home);
  const place = {
    home,
    port: options.port ?? (await freePort()),
    password: secretIn(join(home, 'password')),
    log: options.log,
  };
  const url = `http://${CLICKHOUSE_USER}:${place.password}@127.0.0.1:${place.port}`;
  return { url, start: (stopping) => start({ ...place, url }, stopping) };
}

type Place = { home: string; port: number; password: string; url: string; log: Logger };

async function start(place: Place, stopping: AbortSignal): Promise<EmbeddedStore> {
  const { home, port, password, url, log } = place;
  const library = clickhouseLibrary();
  const dataPath = join(home, 'data');
  const record = join(home, 'server.json');
  makeOwnDirectory(home, dataPath);
  await endLeftover(record, log);
  stopping.throwIfAborted();
  // In place: ClickHouse itself starts on a full disk.
  overwriteInPlace(join(home, 'users.xml'), usersXml(password));
  overwriteInPlace(join(home, 'config.xml'), configXml({ dataPath, port, password }));

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
    if (/<(Error|Fatal)>/.test(line)) log.warn({ store: 'clickhouse' }, line);
    else log.debug({ store: 'clickhouse' }, line);
  });
  // A write to a child that has died: its exit is what counts.
  child.stdin?.on('error', () => {});
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const { pid } = child;
  try {
    if (pid !== undefined) writeRecord(record, pid);
  } catch (error) {
    log.warn({ store: 'clickhouse', err: error }, 'failed to record the process on disk; continuing');
  }
  const server: EmbeddedStore = {
    url,
    port,
    pid: pid ?? 0,
    exited,
    async stop() {
      child.stdin?.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
    kill: () => child.kill('SIGKILL'),
  };
  const onAbort = () => void server.stop();
  stopping.addEventListener('abort', onAbort);
  try {
    await answers(child, port, password);
  } catch (error) {
    child.kill('SIGKILL');
    throw new StoreNotStarted(
      `ClickHouse did not start: ${(error as Error).message}${child.signalCode === 'SIGILL' ? OLD_CPU : ''}\n${said()}`,
      { cause: error },
    );
  } finally {
    stopping.removeEventListener('abort', onAbort);
  }
  return server;
}

/** One process per path: one left from a killed parent ends at its standard input's end; make sure. */
async function endLeftover(path: string, log: Logger): Promise<void> {
  const left = readRecord(path);
  if (left.kind !== 'own') return;
  const gone = await endProcess(left.record, [
    [null, 5_000],
    ['SIGTERM', 3_000],
    ['SIGKILL', 5_000],
  ]);
  if (!gone) throw new Error(`the ClickHouse process ${left.record.pid} of an earlier start does not end`);
  log.debug({ pid: left.record.pid }, 'no ClickHouse of an earlier start is left');
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
    throw new StoreNotStarted(
      `no embedded ClickHouse for this machine (the package ${name} is not installed): ` +
        'set CLICKHOUSE_URL to a ClickHouse server',
      { cause: error },
    );
  }
}
