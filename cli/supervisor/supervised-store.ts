import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { EmbeddedStore, StoreToKeep } from '../embedded/store.ts';
import { createBackoff } from './backoff.ts';

export type KeptStore = {
  /** Resolves when the first start has succeeded; rejects with why it has not. Later starts follow either way. */
  firstStart: Promise<void>;
  /** Ends it cleanly. It is not started again. */
  stop(): Promise<void>;
  /** Ends it at once. It is not started again. */
  kill(): void;
};

/** Starts an embedded store, and starts it again, after a growing pause, whenever it does not start or its process ends. */
export function keepStore(
  name: string,
  store: StoreToKeep,
  deps: { log: Logger; onChange?: (name: string, up: boolean) => void },
): KeptStore {
  const stopping = new AbortController();
  const first = Promise.withResolvers<void>();
  // Those who await it get the error; there may be none.
  first.promise.catch(() => {});
  const pauseAfter = createBackoff();
  let current: EmbeddedStore | undefined;

  const runOnce = async (): Promise<void> => {
    current = await store.start(stopping.signal);
    deps.onChange?.(name, true);
    first.resolve();
    if (stopping.signal.aborted) await current.stop();
    await current.exited;
    current = undefined;
    deps.onChange?.(name, false);
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const startedAt = Date.now();
      const problem = await runOnce().then(
        () => 'this store ended',
        (error: unknown) => {
          first.reject(error);
          if (!stopping.signal.aborted)
            deps.log.error({ store: name, err: error }, 'this store did not start');
          return null;
        },
      );
      if (stopping.signal.aborted) return;
      const pauseMs = pauseAfter(Date.now() - startedAt);
      deps.log.error({ store: name, pauseMs }, `${problem ?? 'this store is down'}: starting it again`);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = loop().finally(() => first.reject(new Error(`${name} was stopped before it was up`)));

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
