import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIGURATION_ERROR } from '../../core/settings/tier-settings.ts';
import { directStatus } from '../../core/tier/direct-get.ts';
import type { ListenPlace } from '../../core/tier/listen-error.ts';
import type { Logger } from '../../core/tier/log.ts';
import { followLines } from '../embedded/child-output.ts';
import { describeExit } from '../embedded/store.ts';
import { createBackoff } from './backoff.ts';
import { problemOfPorts } from './ports.ts';
import type { ChildRecords } from './records.ts';

const UNANSWERED_MS = 15_000;
/** Number of exits before a tier is first ready after which the start fails. */
const START_ATTEMPTS = 3;

export type TierSpec = {
  name: string;
  /** Path of the entry file. */
  script: string;
  /** Flags of Node.js. */
  flags: readonly string[];
  env: NodeJS.ProcessEnv;
  /**
   * Readiness: the child prints the line `{"event":"ready"}`, and then one of the URLs, if any, returns 200. The line
   * proves that the child, and not another process, listens on the port.
   */
  readiness: { kind: 'http'; urls: readonly string[] } | { kind: 'line' };
  /** Ports that it listens on, for error messages. */
  ports: readonly ListenPlace[];
  /** Time to drain between SIGTERM and SIGKILL, milliseconds. */
  drainMs: number;
};

export type Tier = {
  name: string;
  /** Resolves when it is first ready; rejects when it cannot start or is stopped before. */
  ready: Promise<void>;
  /** Drains it and waits for its exit, without a restart. */
  stop(): Promise<void>;
  /** Kills it, without a restart. */
  kill(): void;
};

/** Thrown when a tier did not become ready; its own log has the reason. */
export class TierNotStarted extends Error {
  override name = 'TierNotStarted';
}

export type TierDeps = {
  log: Logger;
  records: ChildRecords;
  /** Called when it becomes ready or exits. */
  onChange?: (name: string, up: boolean) => void;
  /** Time without a response from a child that printed its ready line, before a warning. Milliseconds. */
  unansweredMs?: number;
  /** Restarts it without limit, even before it is first ready. */
  isPersistent?: boolean;
};

/** Runs a tier as a child process, and restarts it with a growing delay when it exits. */
export function superviseTier(spec: TierSpec, deps: TierDeps): Tier {
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  // Prevents an unhandled rejection when nothing awaits it.
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
      const startedAt = performance.now();
      const outcome = await runOnce();
      if (stopping.signal.aborted) return;
      // After a ready tier, a configuration error may be temporary, such as a port in use.
      const attempts = deps.isPersistent ? Number.POSITIVE_INFINITY : START_ATTEMPTS;
      if (!wasReady && (outcome === CONFIGURATION_ERROR || deaths >= attempts)) {
        deps.log.error({ child: spec.name, outcome }, 'child cannot be started');
        const taken = outcome === CONFIGURATION_ERROR ? await problemOfPorts(spec.ports) : null;
        const why = taken?.message ?? `it ${describeExit(outcome)}; its log has the reason`;
        ready.reject(new TierNotStarted(`${spec.name} cannot be started: ${why}`));
        return;
      }
      const pauseMs = pauseAfter(performance.now() - startedAt);
      deps.log.warn({ child: spec.name, outcome, pauseMs }, `child ${describeExit(outcome)}; will restart`);
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
        deps.log.warn({ child: spec.name }, 'child did not drain in time; killed');
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
    // Own process group: Ctrl-C must reach only the supervisor, which stops children in order.
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

/** Waits until the child is ready (true) or has exited (false). */
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
  let warnAt = performance.now() + unansweredMs;
  while (
    !stopping.aborted &&
    child.exitCode === null &&
    child.signalCode === null &&
    child.pid !== undefined
  ) {
    const problems = await Promise.all(readiness.urls.map(problemAt));
    if (problems.includes(null)) return true;
    if (performance.now() >= warnAt) {
      warnAt = Number.POSITIVE_INFINITY;
      const why = readiness.urls.map((url, index) => `${url}: ${problems[index]}`).join('; ');
      log.warn(
        { child: spec.name },
        `child printed its ready line, but its health endpoint does not respond (${why})`,
      );
    }
    await delay(50); // Not a race with `gone`, which would retain a callback for each iteration.
  }
  return false;
}

/** Returns null if a health endpoint returns 200, else the problem. */
async function problemAt(url: string): Promise<string | null> {
  try {
    const status = await directStatus(url, 3_000);
    return status === 200 ? null : `status ${status}`;
  } catch (error) {
    return (error as Error).message;
  }
}
