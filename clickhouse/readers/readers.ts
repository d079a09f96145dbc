import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFault } from '../../core/databases/faults.ts';
import { AppError } from '../../core/errors.ts';
import type { ReplicaMarks } from '../../core/event-log/replica-marks.ts';
import type { Logger } from '../../core/tier/log.ts';
import { assertAnswersSoon, type ClickHouseClient } from '../client.ts';
import type { Replica } from '../replicas.ts';
import { chooseReplica } from './choose-replica.ts';
import { createHangDetector } from './hang-detector.ts';

/** A replica to read. */
export type Source = {
  clickhouse: ClickHouseClient;
  /** The replica has every click before this. Microseconds since the epoch; null: there is no stream. */
  watermark: number | null;
};

/** Where a read starts. */
export type StartingPoint = {
  /** Read just now, before the clicks. */
  marks: ReplicaMarks;
  /** The time up to which the reader was promised every click, such as its `since`. Microseconds. */
  atLeast: number;
};

/** The replicas of ClickHouse that this process reads. */
export type Readers = {
  /** Whether there are several. */
  readonly isReplicated: boolean;
  /** Returns how far the replicas are. */
  marks(): Promise<ReplicaMarks>;
  /**
   * Runs a read on one replica, all of it. When this replica fails, the read runs once more on another one. `run` must
   * change nothing.
   *
   * @throws {AppError} `unavailable` when no replica has what the reader was promised
   */
  read<T>(run: (clickhouse: ClickHouseClient) => Promise<T>): Promise<T>;
  /** Runs a read as {@link Readers.read} does, on a replica that is not behind what the reader was promised. */
  readFrom<T>(point: StartingPoint, run: (source: Source) => Promise<T>): Promise<T>;
  /**
   * Runs a read as {@link Readers.read} does, on a replica that has every click up to a time, or up to the newest
   * watermark when that is earlier.
   *
   * @param atLeast microseconds
   * @param readMarks reads how far the replicas are; left out: on a connection of its own, which a transaction must not
   *   wait for
   */
  readUpTo<T>(
    atLeast: number,
    run: (clickhouse: ClickHouseClient) => Promise<T>,
    readMarks?: () => Promise<ReplicaMarks>,
  ): Promise<T>;
  close(): void;
};

/** Readers as jobs use them. */
export type JobReaders = Pick<Readers, 'isReplicated' | 'read' | 'readUpTo'>;

export type ReadersDependencies = {
  /** At least one. */
  replicas: readonly Replica[];
  readMarks: () => Promise<ReplicaMarks>;
  log: Logger;
};

/** Marks of this age still say which replica to read for a reader that was promised nothing. Milliseconds. */
export const RECENT_MS = 1_000;
/** Longest wait for a replica that has what a reader was promised. Milliseconds. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 50;
/** Interval between two checks of a replica that failed. Milliseconds. */
const PROBE_EVERY_MS = 250;

/** Creates the readers of a process. With one replica they do nothing but read it. */
export function createReaders(dependencies: ReadersDependencies): Readers {
  const { replicas, readMarks } = dependencies;
  const [first, ...others] = replicas;
  if (!first) throw new RangeError('there must be a replica of ClickHouse to read');
  if (others.length > 0) return createReplicatedReaders(dependencies);
  const { clickhouse } = first;
  return {
    isReplicated: false,
    marks: readMarks,
    read: (run) => run(clickhouse),
    readFrom: ({ marks }, run) => run({ clickhouse, watermark: marks.newest }),
    readUpTo: (_atLeast, run) => run(clickhouse),
    close: () => undefined,
  };
}

function createReplicatedReaders({ replicas, readMarks, log }: ReadersDependencies): Readers {
  const clients = new Map(replicas.map(({ name, clickhouse }) => [name, clickhouse]));
  const names = [...clients.keys()];
  const avoided = new Set<string>();
  const closing = new AbortController();
  const hangs = createHangDetector(assertAnswersSoon);
  let preferred: string | null = null;
  let known: { marks: ReplicaMarks; at: number } | null = null;
  let reading: Promise<ReplicaMarks> | null = null;

  async function marks(): Promise<ReplicaMarks> {
    const found = await readMarks();
    known = { marks: found, at: performance.now() };
    return found;
  }

  async function recentMarks(): Promise<ReplicaMarks> {
    if (known && performance.now() - known.at < RECENT_MS) return known.marks;
    reading ??= marks().finally(() => {
      reading = null;
    });
    return reading;
  }

  /** Avoids a replica that failed, or hangs, until it responds. */
  async function avoid(name: string, clickhouse: ClickHouseClient, error: unknown): Promise<void> {
    if (avoided.has(name)) return;
    avoided.add(name);
    log.warn({ err: error, replica: name }, 'a replica of ClickHouse failed; reading another one');
    while (!closing.signal.aborted) {
      try {
        await sleep(PROBE_EVERY_MS, undefined, { ref: false, signal: closing.signal });
        await assertAnswersSoon(clickhouse);
        avoided.delete(name);
        return;
      } catch {
        // It is still away, or the process ends.
      }
    }
  }

  async function readFrom<T>(
    point: StartingPoint,
    run: (source: Source) => Promise<T>,
    readAgain = marks,
  ): Promise<T> {
    const tried = new Set<string>();
    const givenUpAt = performance.now() + PATIENCE_MS;
    let current = point.marks;
    let failure: unknown = new AppError('unavailable', 'no replica of ClickHouse is up to date; try again');
    for (;;) {
      const { atLeast } = point;
      const name = chooseReplica({ marks: current, atLeast, names, tried, avoided, preferred });
      const clickhouse = name === null ? undefined : clients.get(name);
      if (name !== null && clickhouse) {
        try {
          const others = names.filter((one) => one !== name && current.of.has(one) && !tried.has(one));
          const result = await hangs.unlessItHangs(
            clickhouse,
            run({ clickhouse, watermark: current.of.get(name) ?? null }),
            () => others.some((one) => !avoided.has(one)),
          );
          preferred = name;
          return result;
        } catch (error) {
          if (!isOfReplica(error)) throw error;
          failure = error;
          tried.add(name);
          void avoid(name, clickhouse, error);
        }
      } else {
        const others = names.filter((one) => current.of.has(one) && !tried.has(one));
        if (others.length === 0 || performance.now() >= givenUpAt) throw failure;
        await sleep(LOOK_EVERY_MS);
      }
      current = await readAgain();
    }
  }

  return {
    isReplicated: true,
    marks,
    readFrom: (point, run) => readFrom(point, run),
    async readUpTo(atLeast, run, readAgain = marks) {
      const point = { marks: await readAgain(), atLeast };
      return readFrom(point, ({ clickhouse }) => run(clickhouse), readAgain);
    },
    async read(run) {
      return readFrom({ marks: await recentMarks(), atLeast: 0 }, ({ clickhouse }) => run(clickhouse));
    },
    close: () => closing.abort(),
  };
}

/** Whether another replica may do what this one could not: the request itself is not the cause. */
function isOfReplica(error: unknown): boolean {
  const fault = databaseFault(error);
  return (
    fault !== null && fault.database !== 'PostgreSQL' && fault.kind !== 'value' && fault.kind !== 'too_large'
  );
}
