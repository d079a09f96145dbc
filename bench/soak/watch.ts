import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Parts } from './parts.ts';

/** Events of the deployment without a fault. */
export type Watch = {
  /** Processes that exited without a fault, with exit status; they are restarted, as by Compose. */
  ended: string[];
  /** Peak disk usage of all parts, bytes. */
  mostOnDisk(): number;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 1_000;
const MEASURE_EVERY_MS = 15_000;

/** @param say called for each process that exits */
export function startWatch(parts: Parts, say: (text: string) => void): Watch {
  const ended: string[] = [];
  const stopping = new AbortController();
  let most = 0;

  async function run(): Promise<void> {
    for (let measured = 0; ; await delay(LOOK_EVERY_MS, undefined, { signal: stopping.signal })) {
      for (const [service, status] of parts.deployment.endedByThemselves()) {
        ended.push(`${service} (${status})`);
        say(`${service} ended unexpectedly with ${status}; restarting it`);
        parts.deployment.begin([service]);
      }
      if (performance.now() - measured < MEASURE_EVERY_MS) continue;
      measured = performance.now();
      most = Math.max(most, await onDisk([parts.directory, parts.kafka.directory]));
    }
  }

  const running = run().catch((error: unknown) => {
    if (!stopping.signal.aborted) say(`the processes are no longer watched: ${error}`);
  });
  return {
    ended,
    mostOnDisk: () => most,
    stop() {
      stopping.abort();
      return running;
    },
  };
}

async function onDisk(directories: string[]): Promise<number> {
  // du fails on files removed meanwhile; its total is accurate enough.
  const { stdout } = await promisify(execFile)('du', ['-sk', ...directories]).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const kibibytes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return kibibytes.reduce((sum, one) => sum + one, 0) * 1_024;
}
