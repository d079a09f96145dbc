import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../core/tier/log.ts';
import type { EmbeddedStore } from '../embedded/store.ts';
import { createBackoff } from './backoff.ts';

export type KeptStore = {
  /** Stays the same over restarts. */
  url: string;
  stop(): Promise<void>;
};

/**
 * Starts an embedded store and starts it again, on the same port, whenever its process ends.
 *
 * @param start starts it, on the given port if one is given
 * @throws what the first start throws
 */
export async function keepStore(
  name: string,
  start: (port?: number) => Promise<EmbeddedStore>,
  deps: { log: Logger; onChange?: (name: string, up: boolean) => void },
): Promise<KeptStore> {
  const stopping = new AbortController();
  const pauseAfter = createBackoff();
  const first = await start();
  let current: EmbeddedStore | undefined = first;
  deps.onChange?.(name, true);

  const loop = async (): Promise<void> => {
    let startedAt = Date.now();
    for (;;) {
      await current?.exited;
      current = undefined;
      deps.onChange?.(name, false);
      if (stopping.signal.aborted) return;
      const pauseMs = pauseAfter(Date.now() - startedAt);
      deps.log.error({ store: name, pauseMs }, 'this store ended: starting it again');
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      startedAt = Date.now();
      try {
        current = await start(first.port);
        deps.onChange?.(name, true);
        if (stopping.signal.aborted) await current.stop();
      } catch (error) {
        deps.log.error({ store: name, err: error }, 'this store did not start');
      }
    }
  };
  const ended = loop();
  return {
    url: first.url,
    async stop() {
      stopping.abort();
      await current?.stop();
      await ended;
    },
  };
}
