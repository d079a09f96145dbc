import type { EventLogReader, LogBatch } from '../../core/event-log/port.ts';
import type { Network } from '../world/network.ts';
import { type World, world } from '../world/world.ts';

export type Batch = { batch: Omit<LogBatch, 'offset' | 'nextOffset'> };
/** A batch, or bytes that are none. */
type Content = Batch | { damage: Uint8Array };
type LogRecord = Content & { offset: bigint; nextOffset: bigint };
type Read = Awaited<ReturnType<EventLogReader['read']>>;

/** Records of one read at most. */
const MOST_RECORDS = 50;

/** One partition of the log. Offsets count its records. */
export class Partition {
  readonly name: string;
  records: LogRecord[] = [];
  start = 0n;
  end = 0n;
  /** Its latest records, which a new leader does not have yet. */
  #hidden = 0;
  readonly #waiting = new Set<() => void>();

  constructor(name: string) {
    this.name = name;
  }

  append(content: Content): void {
    this.records.push({ ...content, offset: this.end, nextOffset: this.end + 1n });
    this.end += 1n;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Removes the records below an offset. @returns them */
  truncate(offset: bigint): readonly LogRecord[] {
    const to = offset < this.end ? offset : this.end;
    const removed = this.records.filter((record) => record.offset < to);
    this.records = this.records.filter((record) => record.offset >= to);
    if (to > this.start) this.start = to;
    return removed;
  }

  /** The leader is behind by some records, until it has caught up. */
  hide(records: number): void {
    this.#hidden = Math.min(records, this.records.length);
  }

  get shownEnd(): bigint {
    return this.end - BigInt(this.#hidden);
  }

  read(offset: bigint): Read {
    const nothing: Read = { batches: [], damage: [], nextOffset: offset };
    // Below its start a reader continues there; past its end it waits.
    const shown = this.records.slice(0, this.records.length - this.#hidden);
    const found = shown.filter((record) => record.offset >= offset).slice(0, MOST_RECORDS);
    const last = found.at(-1);
    if (!last) return nothing;
    const read: Read = { batches: [], damage: [], nextOffset: last.nextOffset };
    for (const { offset: at, nextOffset, ...content } of found) {
      const place = { offset: at, nextOffset };
      if ('batch' in content) read.batches.push({ ...content.batch, ...place });
      else read.damage.push({ ...place, reason: 'no batch', bytes: content.damage });
    }
    return read;
  }

  /** Calls back once, when a record comes. @returns ends the wait */
  wait(onRecord: () => void): () => void {
    const wake = () => {
      this.#waiting.delete(wake);
      onRecord();
    };
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}

export class Log {
  partitions: readonly Partition[];
  /** Whether readers truncate it, as a journal, or its retention does. */
  readonly isJournal: boolean;
  /** Called with what readers truncate. */
  onTruncated: (records: readonly LogRecord[]) => void = () => undefined;
  /** Whether reads fail. */
  isDown = false;

  constructor(names: readonly string[], isJournal: boolean) {
    this.partitions = names.map((name) => new Partition(name));
    this.isJournal = isJournal;
  }

  /** Adds the partitions that it lacks. */
  add(names: readonly string[]): void {
    const more = names.slice(this.partitions.length).map((name) => new Partition(name));
    this.partitions = [...this.partitions, ...more];
  }

  partition(name: string): Partition {
    const found = this.partitions.find((partition) => partition.name === name);
    if (!found) throw new RangeError(`no partition ${name}`);
    return found;
  }
}

/** Returns a reader of a process, which may wait for the network. */
export function createReader(present: World, log: Log, network: Network): EventLogReader {
  const ask = <T>(work: () => T): Promise<T> => {
    world().beforeOperation();
    return network.ask(async () => {
      if (log.isDown) throw new Error('no broker responds');
      return work();
    });
  };
  return {
    partitions: () => ask(() => log.partitions.map(({ name }) => name)),
    start: (name) => ask(() => log.partition(name).start),
    end: (name) => ask(() => log.partition(name).shownEnd),
    requestHeartbeats: () => undefined,
    close: async () => undefined,
    async truncate(name, offset) {
      if (log.isJournal) await ask(() => log.onTruncated(log.partition(name).truncate(offset)));
    },
    async read(name, offset, { waitMs, signal }) {
      const partition = log.partition(name);
      const deadline = present.monotonic() + waitMs;
      for (;;) {
        const read = await ask(() => partition.read(offset));
        const withinMs = deadline - present.monotonic();
        if (read.nextOffset !== offset || withinMs <= 0 || signal?.aborted) return read;
        await untilMore(present, partition, withinMs, signal);
      }
    },
  };
}

/** Waits for a record, for the time, or for the signal. */
function untilMore(
  present: World,
  partition: Partition,
  withinMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { current } = present;
  return new Promise((resolve) => {
    const done = () => {
      stop();
      timer.isCancelled = true;
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = present.schedule(withinMs, done, current);
    const stop = partition.wait(() => present.schedule(0.1, done, current));
    signal?.addEventListener('abort', done, { once: true });
  });
}
