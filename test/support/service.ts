import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from '../../cli/embedded/unprivileged.ts';
import { prepareDataDir } from './prepared-data.ts';
import { PROGRAM_ENV, programArguments } from './program.ts';

const READY_MS = 90_000;

/** The content of the ready line; see cli/supervisor/announcement.ts. */
export type Ready = {
  api_url: string;
  short_url: string;
  /** On the first start: opens the console as the demo workspace's owner, once. */
  console_url?: string;
  demo?: { workspace_id: string; secret_key: string; publishable_key: string };
};

export type Service = Ready & {
  /** The supervisor. */
  process: ChildProcess;
  /** The standard error of it and its children so far. */
  log(): string;
  /** Ends it as an operator does; resolves with its exit status. */
  stop(): Promise<number | null>;
  /** Sends `kill -9` to the supervisor alone: its children keep running. */
  kill(): Promise<void>;
};

export type ServiceOptions = {
  dataDir: string;
  env?: NodeJS.ProcessEnv;
  /** The user who runs it; default: this process's user. */
  as?: Command;
};

/** The progress message after the migrations. */
const MIGRATED = 'starting redirects';

/** A start that may not be ready yet. */
export type BegunService = Omit<Service, keyof Ready> & {
  /** The content of its ready line; null once it has ended without one, with its whole log. */
  ready: Promise<Ready | null>;
};

/** Starts the whole service as `npm start` does, on free ports unless the environment sets some. */
export function beginService(options: ServiceOptions): BegunService {
  const { child, log } = spawnService(options);
  const ended = exitOf(child);
  const closed = wholeOutputOf(child);
  return {
    process: child,
    log,
    ready: Promise.race([
      firstLine(child).then((line) => JSON.parse(line) as Ready),
      closed.then(() => null),
    ]),
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Starts it and waits for its ready line. A new DATA_DIR starts with migrated, empty databases, as after an interrupted
 * first start; see `prepared-data.ts`.
 *
 * @param options.empty true: it starts with an empty DATA_DIR
 * @throws Error with its output when it ends before it is ready
 */
export async function startService(options: ServiceOptions & { empty?: boolean }): Promise<Service> {
  const { dataDir, env = {}, as, empty = false } = options;
  const hasOwnStores = env.DATABASE_URL === undefined && env.CLICKHOUSE_URL === undefined;
  if (!empty && hasOwnStores && as === undefined) {
    await prepareDataDir(dataDir, async (making) => {
      const { status } = await interruptedStart({ dataDir: making, at: MIGRATED, signal: 'SIGTERM' });
      if (status !== 0)
        throw new Error(`the start that is interrupted after the migrations exited with ${status}`);
    });
  }
  const { ready, ...service } = beginService(options);
  const line = await Promise.race([ready, timeout(READY_MS)]);
  if (line === null) {
    service.process.kill('SIGTERM');
    throw new Error(`the service did not become ready:\n${service.log()}`);
  }
  return { ...line, ...service };
}

/**
 * Runs a start that must fail. A start that becomes ready is stopped.
 *
 * @returns its exit status and standard error
 * @throws Error when it became ready
 */
export async function refusedStart(options: ServiceOptions): Promise<{ status: number | null; log: string }> {
  const { child, log } = spawnService(options);
  let isReady = false;
  child.stdout?.once('data', () => {
    isReady = true;
    child.kill('SIGTERM');
  });
  const status = await wholeOutputOf(child);
  if (isReady) throw new Error(`the start was not refused:\n${log()}`);
  return { status, log: log() };
}

/**
 * Starts it and sends a signal once its log contains a text, before it is ready.
 *
 * @returns its exit status and standard output
 */
export async function interruptedStart(
  options: ServiceOptions & { at: string; signal: NodeJS.Signals },
): Promise<{ status: number | null; output: string }> {
  const { child, log } = spawnService(options);
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  child.stderr?.on('data', () => {
    if (log().includes(options.at) && !child.killed) child.kill(options.signal);
  });
  return { status: await wholeOutputOf(child), output };
}

function spawnService({ dataDir, env, as }: ServiceOptions): { child: ChildProcess; log: () => string } {
  const [file, args, identity] = as ? [as.file, as.args, as.identity] : [process.execPath, [], {}];
  const child = spawn(file, [...args, ...programArguments('start')], {
    ...identity,
    env: {
      ...PROGRAM_ENV,
      DATA_DIR: dataDir,
      API_PORT: '0',
      INGEST_PORT: '0',
      METRICS_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return { child, log: () => text };
}

function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
  });
}

/** Returns the exit status once all output of the process is read: `exit` may come before that. */
async function wholeOutputOf(child: ChildProcess): Promise<number | null> {
  const [status] = (await once(child, 'close')) as [number | null];
  return status;
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [status] = (await once(child, 'exit')) as [number | null];
  return status;
}

function timeout(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(() => resolve(null), ms).unref());
}
