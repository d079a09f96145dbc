import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedStore } from '../../cli/embedded/store.ts';
import { bindRunning } from '../../test/support/bound-process.ts';

/** A database that can be killed and restarted at the same address with the same data. */
export type MortalStore = {
  url: string;
  /** `kill -9` */
  kill(): Promise<void>;
  /** Starts it if it is not running, with a few retries, as Compose does. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

const STARTS = 5;

/** Starts a database on a fixed port. */
export async function startMortalStore(run: () => Promise<EmbeddedStore>): Promise<MortalStore> {
  let release = () => {};
  async function begin(): Promise<EmbeddedStore> {
    const begun = await run();
    release = bindRunning(begun.pid);
    return begun;
  }
  let store: EmbeddedStore | null = await begin();
  const { url } = store;
  return {
    url,
    async kill() {
      if (!store) return;
      const { pid, exited } = store;
      store = null;
      process.kill(pid, 'SIGKILL');
      await exited;
      release();
    },
    async start() {
      for (let attempt = 1; !store; attempt++) {
        try {
          store = await begin();
        } catch (error) {
          if (attempt === STARTS) throw error;
          await delay(1_000);
        }
      }
    },
    async stop() {
      await store?.stop();
      store = null;
      release();
    },
  };
}
