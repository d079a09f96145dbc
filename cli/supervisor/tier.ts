import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIGURATION_ERROR } from '../../core/settings/tier-settings.ts';
import { directStatus } from '../../core/tier/direct-get.ts';
import type { ListenPlace } from '../../core/tier/listen-error.ts';
import type { Logger } from '../../core/tier/log.ts';
import { followLines } from '../embedded/child-output.ts';
import { createBackoff } from './backoff.ts';
import { problemOfPorts } from './ports.ts';
import type { ChildRecords } from './records.ts';

const UNANSWERED_MS = 15_000;
/** Deaths in a row, before a tier was ever ready, after which the start is given up. */
const START_ATTEMPTS = 3;

export type TierSpec = {
  name: string;
  /** Path of its main file. */
  script: string;
  /** Flags of Node.js. */
  flags: readonly string[];
  env: NodeJS.ProcessEnv;
  /**
   * How it says that it is ready: it writes the line `{"event":"ready"}` and, with a health endpoint, that answers 200
   * after it, at one of its URLs. The line is what shows that it is this child who answers, and nobody else on its port.
   */
  readiness: { kind: 'http'; urls: readonly string[] } | { kind: 'line' };
  /** The ports that it listens on, for what to say when it gets none of its settings' ports. */
  ports: readonly ListenPlace[];
  /** Time it gets to drain after SIGTERM before it is killed, milliseconds. */
  drainMs: number;
};

export type Tier = {
  name: string;
  /** Resolves when it was ready once; rejects when it can't be started or is stopped before that. */
  ready: Promise<void>;
  /** Asks it to drain and waits until it has ended. It is not started again. */
  stop(): Promise<void>;
  /** Ends it at once. It is not started again. */
  kill(): void;
};

/** A tier that does not get ready. Why, it has said itself on standard error. */
export class TierNotStarted extends Error {
  override name = 'TierNotStarted';
}

export type TierDeps = {
  log: Logger;
  records: ChildRecords;
  /** Called whenever it comes up or goes down. */
  onChange?: (name: string, up: boolean) => void;
  /** After so long without an answer of a child that says that it is ready, the log says where it is asked. */
  unansweredMs?: number;
  /** Whether it is started again however often it dies before it was ever ready. */
  isPersistent?: boolean;
};

/** Starts a tier as a child process and starts it again, after a growing pause, whenever it dies. */
export function keepTier(spec: TierSpec, deps: TierDeps): Tier {
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  // Whoever awaits it gets the error; nobody may be waiting any more.
  ready.promise.catch(() => {});
  const pauseAfter = createBackoff();
  let child: ChildProcess | undefined;
  let wasReady = false;

  const runOnce = async (): Promise<number | NodeJS.Signals | null> => {
    const started = spawnTier(spec);
    child = started;
    if (started.pid !== undefined) deps.records.write(spec.name, started.pid);
    const ended = exitOf(started);
    const lines = isReady(spec, started, { stopping: stopping.signal, ...deps }).then((up) => {
      if (!up) return;
      wasReady = true;
      ready.resolve();
      deps.onChange?.(spec.name, true);
    });
    const outcome = await ended;
    child = undefined;
    await lines;
    deps.records.clear(spec.name);
    deps.onChange?.(spec.name, false);
    return outcome;
  };

  const loop = async (): Promise<void> => {
    for (let deaths = 1; !stopping.signal.aborted; deaths += 1) {
      const startedAt = Date.now();
      const outcome = await runOnce();
      if (stopping.signal.aborted) return;
      // Settings with which it was ready were right: what is wrong now, such as its port taken meanwhile, may pass.
      const attempts = deps.isPersistent ? Number.POSITIVE_INFINITY : START_ATTEMPTS;
      if (!wasReady && (outcome === CONFIGURATION_ERROR || deaths >= attempts)) {
        deps.log.error({ child: spec.name, outcome }, 'this child can not be started');
        const taken = outcome === CONFIGURATION_ERROR ? await problemOfPorts(spec.ports) : null;
        const why = taken?.message ?? `it ended with ${outcome}, for the reason that it has logged`;
        ready.reject(new TierNotStarted(`${spec.name} can not be started: ${why}`));
        return;
      }
      const pauseMs = pauseAfter(Date.now() - startedAt);
      deps.log.warn({ child: spec.name, outcome, pauseMs }, 'this child died: starting it again');
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = loop();
  void ended.then(() => ready.reject(new Error(`${spec.name} was stopped before it was ready`)));

  return {
    name: spec.name,
    ready: ready.promise,
    async stop() {
      stopping.abort();
      const drained = child;
      drained?.kill('SIGTERM');
      const timer = setTimeout(() => {
        deps.log.warn({ child: spec.name }, 'this child did not drain in time: killed');
        drained?.kill('SIGKILL');
      }, spec.drainMs);
      await ended;
      clearTimeout(timer);
    },
    kill() {
      stopping.abort();
      child?.kill('SIGKILL');
    },
  };
}

function spawnTier(spec: TierSpec): ChildProcess {
  return spawn(process.execPath, [...spec.flags, spec.script], {
    env: spec.env,
    // Its own process group, so that Ctrl-C in a terminal reaches the supervisor alone, which stops in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal));
    child.once('error', () => resolve(null));
  });
}

/** Whether the child got ready before it ended. */
async function isReady(
  spec: TierSpec,
  child: ChildProcess,
  { stopping, log, unansweredMs = UNANSWERED_MS }: { stopping: AbortSignal } & TierDeps,
): Promise<boolean> {
  const { readiness } = spec;
  const line = Promise.withResolvers<boolean>();
  followLines(child.stdout, (text) => {
    if (text.includes('"event":"ready"')) line.resolve(true);
  });
  const gone = exitOf(child).then(() => false);
  const said = await Promise.race([line.promise, gone]);
  if (!said || readiness.kind === 'line') return said;
  let warnAt = Date.now() + unansweredMs;
  while (
    !stopping.aborted &&
    child.exitCode === null &&
    child.signalCode === null &&
    child.pid !== undefined
  ) {
    const problems = await Promise.all(readiness.urls.map(problemAt));
    if (problems.includes(null)) return true;
    if (Date.now() >= warnAt) {
      warnAt = Number.POSITIVE_INFINITY;
      const why = readiness.urls.map((url, index) => `${url}: ${problems[index]}`).join('; ');
      log.warn({ child: spec.name }, `this child is up, but its health endpoint does not answer (${why})`);
    }
    await delay(50); // no race against `gone`, which would keep a record of each
  }
  return false;
}

/** Why a health endpoint does not answer 200; null: it does. */
async function problemAt(url: string): Promise<string | null> {
  try {
    const status = await directStatus(url, 3_000);
    return status === 200 ? null : `status ${status}`;
  } catch (error) {
    return (error as Error).message;
  }
}
