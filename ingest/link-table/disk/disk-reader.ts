import { asBuffer } from '../../../core/events/as-buffer.ts';
import { startLastingThread } from '../../../core/tier/lasting-thread.ts';
import type { Logger } from '../../../core/tier/log.ts';
import type { DiskThreadData, FromReader, ReaderData, ToReader } from './messages.ts';

/** Questions to the thread that reads the file. */
export type DiskReader = {
  /**
   * The records of what slugs name, in any case of letters, by slug; those that the file does not have are missing.
   *
   * @param file counted up when there is another file to open
   * @throws Error when it can't be read
   */
  find(file: number, slugs: string[]): Promise<Map<string, Buffer>>;
  /** Slugs looked for so far. */
  reads(): number;
  /** Ends the thread, within `withinMs`. What was asked fails. */
  stop(withinMs: number): Promise<void>;
};

type Asked = {
  slugs: string[];
  file: number;
  answer(found: Map<string, Buffer>): void;
  fail(error: Error): void;
};

const THREAD = new URL('./reader-thread.ts', import.meta.url);

/** @param onDamage called with the number of a file whose content can't be right */
export function startDiskReader(
  data: DiskThreadData,
  log: Logger,
  onDamage: (file: number) => void,
): DiskReader {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const asked = new Map<number, Asked>();
  let questions = 0;
  let reads = 0;

  function hear({ question, records, failed }: FromReader): void {
    const one = asked.get(question);
    if (one === undefined) return;
    asked.delete(question);
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
    one.answer(found);
  }

  function failAll(): void {
    for (const one of asked.values()) one.fail(new Error('the thread that reads the disk has died'));
    asked.clear();
  }

  function ringBell(): void {
    Atomics.add(bell, 0, 1);
    Atomics.notify(bell, 0);
  }

  const thread = startLastingThread<ToReader, FromReader>({
    url: THREAD,
    workerData: { ...data, bell: bell.buffer } satisfies ReaderData,
    name: 'the links on disk',
    log,
    onMessage: hear,
    onDeath: failAll,
  });

  return {
    find(file, slugs) {
      reads += slugs.length;
      return new Promise((answer, fail) => {
        asked.set(++questions, { slugs, file, answer, fail });
        if (thread.post({ question: questions, file, slugs })) ringBell();
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
