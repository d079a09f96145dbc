import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import { endProcess } from '../processes/identity.ts';
import { overwriteInPlace } from '../processes/overwrite-in-place.ts';
import { readRecord, writeRecord } from '../processes/record-file.ts';
import { nodeFlags, programFile } from '../programs/programs.ts';
import { followLines } from './child-output.ts';
import { authorization, CLICKHOUSE_USER, configXml, usersXml } from './clickhouse-config.ts';
import { makeDataDir, makeOwnDirectory } from './data-dir.ts';
import { freePort } from './free-port.ts';
import { type Embedded, missingDatabase, thisMachine } from './machine.ts';
import { secretIn } from './secret-file.ts';
import { type EmbeddedStore, type Exit, type StartableStore, StoreNotStarted } from './store.ts';

const START_MS = 60_000;
/** Time to stop before a kill, part of the 10 s of a whole stop. Data on disk survives a kill. */
export const STOP_MS = 3_500;

const OLD_CPU =
  ' (this CPU lacks instructions that the embedded ClickHouse needs, such as AVX2: set CLICKHOUSE_URL to a ClickHouse server)';

export type ClickHouseOptions = {
  /** Absolute path; data is in `<dataDir>/clickhouse`, readable by this user only. */
  dataDir: string;
  log: Logger;
  /** Port on 127.0.0.1, to keep the address of a restarted server; default: a free one. */
  port?: number;
};

/**
 * Starts ClickHouse as a child process, from the library of the npm package chdb, and waits until it is ready. It exits
 * with this process. A server of an earlier start in the directory is ended first.
 *
 * @throws Error with ClickHouse's output, when it is not ready within 60 s or this machine has no library
 */
export async function startEmbeddedClickHouse(options: ClickHouseOptions): Promise<EmbeddedStore> {
  const store = await embeddedClickHouse(options);
  return store.start(new AbortController().signal);
}

/** Assigns the address of an embedded ClickHouse, which can then be started repeatedly. */
export async function embeddedClickHouse(options: ClickHouseOptions): Promise<StartableStore> {
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
  // Overwritten in place, so that ClickHouse starts on a full disk.
  overwriteInPlace(join(home, 'users.xml'), usersXml(password));
  overwriteInPlace(join(home, 'config.xml'), configXml({ dataPath, port, password }));

  // Starts the bundle if this program is one: the TypeScript compiler would stay in the memory of the process.
  const program = [...nodeFlags('clickhouse-child'), programFile('clickhouse-child')];
  const child = spawn(process.execPath, [...program, library], {
    cwd: home,
    // Own process group: Ctrl-C must reach only the supervisor, which stops children in order.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, TZ: 'UTC' },
  });
  const output = followLines(child.stderr, (line) => {
    // Skip frames of stack traces, which have no symbols.
    if (/^\d+\. /.test(line)) return;
    if (/<(Error|Fatal)>/.test(line)) log.warn({ store: 'clickhouse' }, line);
    else log.debug({ store: 'clickhouse' }, line);
  });
  // A write to a child that has exited fails; its exit is handled below.
  child.stdin?.on('error', () => {});
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal));
    child.once('error', () => resolve(null));
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
    await waitUntilReady(child, port, password);
  } catch (error) {
    child.kill('SIGKILL');
    throw new StoreNotStarted(
      `ClickHouse did not start: ${(error as Error).message}${child.signalCode === 'SIGILL' ? OLD_CPU : ''}\n${output()}`,
      { cause: error },
    );
  } finally {
    stopping.removeEventListener('abort', onAbort);
  }
  return server;
}

/** Ends the server of a killed parent: two on one path would damage the data. */
async function endLeftover(path: string, log: Logger): Promise<void> {
  const left = readRecord(path);
  if (left.kind !== 'own') return;
  const gone = await endProcess(left.record, [
    [null, 5_000],
    ['SIGTERM', 3_000],
    ['SIGKILL', 5_000],
  ]);
  if (!gone)
    throw new Error(
      `the ClickHouse process ${left.record.pid} of an earlier start did not exit after SIGKILL`,
    );
  log.debug({ pid: left.record.pid }, 'the ClickHouse of an earlier start has exited');
}

async function waitUntilReady(child: ChildProcess, port: number, password: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  let last = 'no response';
  while (performance.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      throw new Error(`the process exited with ${child.signalCode ?? child.exitCode}`);
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

/** Not `fetch`, which keeps connections open: ClickHouse waits 5 s for open ones before it exits. */
function selectOne(port: number, password: string): Promise<string> {
  const headers = { Authorization: authorization(password) };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/?query=SELECT%201', headers, agent: false, timeout: 30_000 },
      (response) => {
        text(response).then(resolve, reject);
      },
    );
    sent.on('timeout', () => sent.destroy(new Error('no response within 30 s')));
    sent.on('error', reject);
    sent.end();
  });
}

/** Packages of chDB's library. Only the first is an optional package of Hoplog; the others are installed by hand. */
const LIBRARIES: Embedded = {
  name: 'ClickHouse',
  setting: 'CLICKHOUSE_URL',
  version: '26.7.3-stable.1',
  packages: {
    'linux-x64': '@chdb/lib-linux-x64-gnu',
    'linux-arm64': '@chdb/lib-linux-arm64-gnu',
    'darwin-x64': '@chdb/lib-darwin-x64',
    'darwin-arm64': '@chdb/lib-darwin-arm64',
  },
};

/**
 * Returns the path of the library of the npm package chdb for this machine.
 *
 * @param machine for tests: another one
 * @throws {StoreNotStarted} with advice, when no library exists for this machine
 */
export function clickhouseLibrary(machine = thisMachine()): string {
  const name = machine.isMusl ? undefined : LIBRARIES.packages[`${machine.platform}-${machine.arch}`];
  try {
    if (name !== undefined) {
      return join(dirname(createRequire(import.meta.url).resolve(name)), 'libchdb.so');
    }
  } catch {
    // Not installed.
  }
  throw new StoreNotStarted(missingDatabase(LIBRARIES, machine));
}
