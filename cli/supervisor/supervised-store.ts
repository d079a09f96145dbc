import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import { describeExit, type EmbeddedStore, type StartableStore } from '../embedded/store.ts';
import { createBackoff } from './backoff.ts';

export type SupervisedStore = {
  /** Settles with the result of the first start. Later starts follow in either case. */
  firstStart: Promise<void>;
  /** Stops it cleanly, without a restart. */
  stop(): Promise<void>;
  /** Kills it, without a restart. */
  kill(): void;
};

/** Runs an embedded database, and restarts it with a growing delay when it fails to start or exits. */
export function superviseStore(
  name: string,
  store: StartableStore,
  deps: { log: Logger; onChange?: (name: string, up: boolean) => void },
): SupervisedStore {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  // Prevents an unhandled rejection when nothing awaits it.
  first.promise.catch(() => {});
  const pauseAfter = createBackoff();
  let current: EmbeddedStore | undefined;

  const runOnce = async (): Promise<string> => {
    current = await store.start(stopping.signal);
    deps.onChange?.(name, true);
    first.resolve();
    if (stopping.signal.aborted) await current.stop();
    const exit = await current.exited;
    current = undefined;
    deps.onChange?.(name, false);
    return `embedded database ${describeExit(exit)}`;
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const problem = await runOnce().catch((error: unknown) => {
        first.reject(error);
        if (!stopping.signal.aborted)
          deps.log.error({ store: name, err: error }, 'embedded database failed to start');
        return null;
      });
      if (stopping.signal.aborted) return;
      const pauseMs = pauseAfter(performance.now() - startedAt);
      deps.log.error({ store: name, pauseMs }, `${problem ?? 'embedded database is down'}; will restart`);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = loop().finally(() => first.reject(new Error(`${name} was stopped before it was ready`)));

  return {
    firstStart: first.promise,
    async stop() {
      stopping.abort();
      await current?.stop();
      await ended;
    },
    kill() {
      stopping.abort();
      current?.kill();
    },
  };
}
