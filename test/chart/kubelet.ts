import { type ChildProcess, spawn } from 'node:child_process';
import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container, Probe } from './rendering.ts';

/** Defaults of Kubernetes. */
const PROBE = { periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 };
const GRACE_SECONDS = 30;
/** Instead of the back-off of Kubernetes, which begins with 10 s. */
const RESTART_MS = 1_000;

export type ContainerState = {
  isReady: boolean;
  /** Times that it was started again: it ended, or a probe failed too often. */
  restarts: number;
  /** Why it is not ready: the last failed probe. */
  reason: string;
};

export type RunningContainer = {
  state(): ContainerState;
  /** Runs preStop, then sends SIGTERM, and SIGKILL when the grace period is over. @returns the exit status */
  stop(): Promise<number | null>;
  /** As when its node is lost. */
  kill(): Promise<void>;
  /** Resolves with the exit status of a container that is not started again. */
  ended: Promise<number | null>;
};

export type ContainerOptions = {
  container: Container;
  /** Starts its process. */
  start(): ChildProcess;
  /** Runs a command in it to its end. */
  exec(command: string[]): Promise<unknown>;
  /** Address of the pod, as in a URL. */
  address: string;
  graceSeconds?: number;
  /** For the container of a Job, which is not started again. */
  runsOnce?: boolean;
};

/**
 * Runs a container by the rules of a kubelet: it is alive and ready by its probes, which come from outside, and starts
 * again when it ends or they fail.
 */
export function runContainer(options: ContainerOptions): RunningContainer {
  const { container, address, graceSeconds = GRACE_SECONDS } = options;
  const state: ContainerState = { isReady: false, restarts: 0, reason: 'it has not started' };
  const { promise: ended, resolve: end } = Promise.withResolvers<number | null>();
  let child = options.start();
  let isStopping = false;

  async function passes(probe: Probe): Promise<boolean> {
    if (!probe.httpGet) throw new Error(`a probe of ${container.name} is not httpGet`);
    const { path, port } = probe.httpGet;
    const number = container.ports?.find(({ name }) => name === port)?.containerPort ?? port;
    const url = `http://${address}:${number}${path}`;
    const failure = await failureOf(url, 1_000 * (probe.timeoutSeconds ?? PROBE.timeoutSeconds));
    if (failure !== null) state.reason = `${url}: ${failure}`;
    return failure === null;
  }

  /** Probes one process until `decide` returns true for the results so far. */
  async function follow(probe: Probe, of: ChildProcess, decide: (failures: number) => boolean) {
    for (let failures = 0; ; ) {
      if (of !== child || hasEnded(of)) return;
      failures = (await passes(probe)) ? 0 : failures + 1;
      if (decide(failures)) return;
      await delay(1_000 * (probe.periodSeconds ?? PROBE.periodSeconds));
    }
  }

  async function watch(of: ChildProcess): Promise<void> {
    of.once('exit', async (status) => {
      state.isReady = false;
      state.reason = `it ended with ${status ?? of.signalCode}`;
      if (isStopping || options.runsOnce) {
        end(status);
        return;
      }
      state.restarts += 1;
      await delay(RESTART_MS);
      if (isStopping) {
        end(status);
        return;
      }
      child = options.start();
      void watch(child);
    });
    const restartAfter = (probe: Probe) => (failures: number) => {
      if (failures < (probe.failureThreshold ?? PROBE.failureThreshold)) return false;
      void terminate(of);
      return true;
    };
    const { startupProbe, livenessProbe, readinessProbe } = container;
    if (startupProbe) {
      const isOver = restartAfter(startupProbe);
      await follow(startupProbe, of, (failures) => failures === 0 || isOver(failures));
    }
    if (of !== child || hasEnded(of)) return;
    if (livenessProbe) void follow(livenessProbe, of, restartAfter(livenessProbe));
    if (!readinessProbe) state.isReady = !options.runsOnce;
    else {
      await follow(readinessProbe, of, (failures) => {
        if (failures === 0 && !hasEnded(of)) state.isReady = true;
        if (failures >= (readinessProbe.failureThreshold ?? PROBE.failureThreshold)) state.isReady = false;
        return false;
      });
    }
  }

  async function terminate(of: ChildProcess): Promise<void> {
    const late = setTimeout(() => of.kill('SIGKILL'), 1_000 * graceSeconds);
    const { preStop } = container.lifecycle ?? {};
    const exited = new Promise<void>((resolve) => {
      if (hasEnded(of)) resolve();
      else of.once('exit', () => resolve());
    });
    if (preStop) await Promise.race([options.exec(preStop.exec.command), exited]);
    of.kill('SIGTERM');
    await exited;
    clearTimeout(late);
  }

  void watch(child);
  return {
    state: () => ({ ...state }),
    ended,
    async stop() {
      // The endpoints of Services lose it first.
      isStopping = true;
      state.isReady = false;
      if (hasEnded(child)) end(child.exitCode);
      else await terminate(child);
      return await ended;
    },
    async kill() {
      isStopping = true;
      state.isReady = false;
      if (hasEnded(child)) end(child.exitCode);
      else child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts a program whose output is collected. */
export function startProgram(words: string[], log: (text: string) => void): ChildProcess {
  const [file = '', ...args] = words;
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', log);
  return child;
}

/** Why a kubelet takes a response as a failure; null for a success. */
function failureOf(url: string, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: timeoutMs }, (response) => {
      const status = response.statusCode ?? 0;
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.once('close', () =>
        resolve(status >= 200 && status < 400 ? null : `status ${status}: ${body}`),
      );
    });
    request.once('timeout', () => request.destroy(new Error(`no response within ${timeoutMs} ms`)));
    request.once('error', (error) => resolve(error.message));
  });
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
