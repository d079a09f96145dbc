import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Logger } from './log.ts';

/** A thread that is started again whenever it has died. */
export type LastingThread<To> = {
  /** Posts a message. @returns false between two threads, when nobody would hear it */
  tell(message: To): boolean;
  /** Ends the present thread; the next one follows as after any death. @returns false between two threads */
  end(): boolean;
  /** Posts the message that asks the thread to end, and ends it when it has not within `withinMs`. For good. */
  stop(message: To, withinMs: number): Promise<void>;
};

/** After a death; twice as long after each death that follows soon. */
const RESTART_MS = 1_000;
const RESTART_MAX_MS = 30_000;

/**
 * @param given.hear gets what the thread posts
 * @param given.onDeath called when it has died, and was not stopped
 */
export function startLastingThread<To, From>(given: {
  url: URL;
  workerData: unknown;
  /** For the log: `the shipper`. */
  name: string;
  hear: (message: From) => void;
  onDeath: () => void;
  log: Logger;
}): LastingThread<To> {
  const { url, workerData, name, hear, onDeath, log } = given;
  let stopping = false;
  let pauseMs = RESTART_MS;
  let worker: Worker | null = start();

  function start(): Worker {
    const startedAt = performance.now();
    const thread = new Worker(url, { workerData });
    thread.on('message', hear);
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
    tell(message) {
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
