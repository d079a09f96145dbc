import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../cli/embedded/free-port.ts';
import { PROGRAM_ENV, programArguments } from '../support/program.ts';
import type { TestStores } from '../support/stores.ts';
import { until } from '../support/until.ts';
import type { Call } from './driver.ts';

const READY_MS = 60_000;

/** The API in a process of its own, which a test can kill. */
export type ApiProcess = {
  call: Call;
  /** Sends `kill -9` and waits until the process is gone. */
  kill(): Promise<void>;
};

/**
 * Starts the API's process on a test's databases and waits until it responds.
 *
 * @param dataDir the directory of its journal: the same one after a kill
 */
export async function startApi(
  stores: TestStores,
  dataDir: string,
  keys: { secret: string; publishable: string },
): Promise<ApiProcess> {
  await stores.createTables();
  const port = await freePort();
  const child = spawn(process.execPath, programArguments('api'), {
    env: {
      ...PROGRAM_ENV,
      DATA_DIR: dataDir,
      DATABASE_URL: stores.databaseUrl,
      CLICKHOUSE_URL: stores.clickhouseUrl,
      CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
      API_PORT: String(port),
      METRICS_PORT: String(await freePort()),
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await ready(child, port);
  return {
    async call(method, path, body, { fromPage = false, idempotencyKey } = {}) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${fromPage ? keys.publishable : keys.secret}`,
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return {
        status: response.status,
        body: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
        text,
        exportId: response.headers.get('x-export-id'),
      };
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function ready(child: ChildProcess, port: number): Promise<void> {
  const status = async () => {
    if (child.exitCode !== null) throw new Error(`the API ended with ${child.exitCode} before it was ready`);
    return await fetch(`http://127.0.0.1:${port}/health/ready`).then((response) => response.status, String);
  };
  try {
    await until('the API is ready', status, (seen) => seen === 200, { timeoutMs: READY_MS });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
