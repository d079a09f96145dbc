import { asBuffer } from '../../../core/events/as-buffer.ts';
import type { Logger } from '../../../core/tier/log.ts';
import { startRestartingThread } from '../../../core/tier/restarting-thread.ts';
import type { DiskThreadData, FromReader, ReaderData, ToReader } from './messages.ts';

/** The thread that reads the file. */
export type DiskReader = {
  /**
   * Returns the records that the slugs name, in any case of letters, by slug. Slugs that the file lacks are missing.
   *
   * @param file changes when there is another file to open
   * @throws Error when it can't be read
   */
  find(file: number, slugs: string[]): Promise<Map<string, Buffer>>;
  /** Slugs looked up so far. */
  reads(): number;
  /** Ends the thread within `withinMs`. Open queries fail. */
  stop(withinMs: number): Promise<void>;
};

type Query = {
  slugs: string[];
  file: number;
  succeed(found: Map<string, Buffer>): void;
  fail(error: Error): void;
};

const THREAD = new URL('./reader-thread.ts', import.meta.url);

/** @param onDamage called with the number of a corrupt file */
export function startDiskReader(
  data: DiskThreadData,
  log: Logger,
  onDamage: (file: number) => void,
): DiskReader {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const pending = new Map<number, Query>();
  let queries = 0;
  let reads = 0;

  function receive({ query, records, failed }: FromReader): void {
    const one = pending.get(query);
    if (one === undefined) return;
    pending.delete(query);
    if (failed === 'damaged') onDamage(one.file);
    if (failed !== undefined) {
      one.fail(new Error('the file on disk can’t be read'));
      return;
    }
    const found = new Map<string, Buffer>();
    for (const [index, slug] of one.slugs.entries()) {
      const bytes = records[index];
      if (bytes) found.set(slug, asBuffer(bytes));
    }
    one.succeed(found);
  }

  function failAll(): void {
    for (const one of pending.values()) one.fail(new Error('the thread that reads the links’ file has died'));
    pending.clear();
  }

  function ringBell(): void {
    Atomics.add(bell, 0, 1);
    Atomics.notify(bell, 0);
  }

  const thread = startRestartingThread<ToReader, FromReader>({
    url: THREAD,
    workerData: { ...data, bell: bell.buffer } satisfies ReaderData,
    name: 'the links on disk',
    log,
    onMessage: receive,
    onDeath: failAll,
  });

  return {
    find(file, slugs) {
      reads += slugs.length;
      return new Promise((succeed, fail) => {
        pending.set(++queries, { slugs, file, succeed, fail });
        if (thread.post({ query: queries, file, slugs })) ringBell();
        else failAll();
      });
    },
    reads: () => reads,
    async stop(withinMs) {
      const stopped = thread.stop('stop', withinMs);
      ringBell();
      await stopped;
      failAll();
    },
  };
}
