import type { EmbeddedStore } from '../../cli/embedded/store.ts';

/** A store that dies and comes back at the same address with the same data. */
export type MortalStore = {
  url: string;
  /** `kill -9` */
  kill(): Promise<void>;
  /** Starts it again, where it does not run. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts a store on a port that it keeps. */
export async function startMortalStore(run: () => Promise<EmbeddedStore>): Promise<MortalStore> {
  let store: EmbeddedStore | null = await run();
  const { url } = store;
  return {
    url,
    async kill() {
      if (!store) return;
      const { pid, exited } = store;
      store = null;
      process.kill(pid, 'SIGKILL');
      await exited;
    },
    async start() {
      store ??= await run();
    },
    async stop() {
      await store?.stop();
      store = null;
    },
  };
}
