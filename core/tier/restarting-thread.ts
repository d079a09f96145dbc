import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Logger } from './log.ts';

/** A worker thread that is restarted whenever it dies. */
export type RestartingThread<To> = {
  /** Posts a message. @returns false between two threads */
  post(message: To): boolean;
  /** Ends the current thread; the next one starts as after any death. @returns false between two threads */
  end(): boolean;
  /** Stops for good: posts a message that asks the thread to end, and terminates it after `withinMs`. */
  stop(message: To, withinMs: number): Promise<void>;
};

/** Pause before a restart. It doubles with each death that follows soon. */
const RESTART_MS = 1_000;
const RESTART_MAX_MS = 30_000;

/**
 * Starts a thread and its replacements.
 *
 * @param given.onMessage receives the thread's messages
 * @param given.onDeath called when it has died without being stopped
 */
export function startRestartingThread<To, From>(given: {
  url: URL;
  workerData: unknown;
  /** Name for the log: `the shipper`. */
  name: string;
  onMessage: (message: From) => void;
  onDeath: () => void;
  log: Logger;
}): RestartingThread<To> {
  const { url, workerData, name, onMessage, onDeath, log } = given;
  let stopping = false;
  let pauseMs = RESTART_MS;
  let worker: Worker | null = start();

  function start(): Worker {
    const startedAt = performance.now();
    const thread = new Worker(url, { workerData });
    thread.on('message', onMessage);
    thread.on('error', (error) => log.error({ err: error }, `the thread of ${name} has died`));
    thread.on('exit', () => {
      worker = null;
      if (stopping) return;
      onDeath();
      if (performance.now() - startedAt > RESTART_MAX_MS) pauseMs = RESTART_MS;
      setTimeout(() => {
        if (!stopping) worker = start();
      }, pauseMs).unref();
      pauseMs = Math.min(pauseMs * 2, RESTART_MAX_MS);
    });
    return thread;
  }

  return {
    post(message) {
      worker?.postMessage(message);
      return worker !== null;
    },
    end() {
      void worker?.terminate();
      return worker !== null;
    },
    async stop(message, withinMs) {
      stopping = true;
      const thread = worker;
      if (!thread) return;
      const ended = once(thread, 'exit');
      thread.postMessage(message);
      const late = setTimeout(() => void thread.terminate(), withinMs);
      await ended;
      clearTimeout(late);
    },
  };
}
