import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { EmbeddedStore } from '../../cli/embedded/store.ts';

/** A store that dies and comes back at the same address with the same data. */
export type MortalStore = {
  url: string;
  /** `kill -9` */
  kill(): Promise<void>;
  /** Starts it again, where it does not run; a few times over when it does not come up, as Compose would. */
  start(): Promise<void>;
  stop(): Promise<void>;
};

const STARTS = 5;

/** Starts a store on a port that it keeps. */
export async function startMortalStore(run: () => Promise<EmbeddedStore>): Promise<MortalStore> {
  let release = () => {};
  async function begin(): Promise<EmbeddedStore> {
    const begun = await run();
    release = bind(begun.pid);
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

/**
 * Has the store killed when this process ends without having released it: PostgreSQL outlives whoever started it.
 *
 * @returns releases it
 */
function bind(pid: number): () => void {
  const guard = spawn('sh', ['-c', 'read -r released || kill -9 "$0"', String(pid)], {
    // A group of its own: Ctrl-C in a terminal must not end it first.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin.on('error', () => {});
  return () => guard.stdin.end('released\n');
}
