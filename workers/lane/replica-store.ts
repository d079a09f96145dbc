import { isRefusal } from '../../clickhouse/inserts/refusal.ts';
import { storedAbove } from '../../clickhouse/inserts/stored-above.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import { type Lane, LaneLost, LaneMoved } from '../../sql/event-log/lanes.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { createRetry } from '../retry.ts';
import { type Block, encodeBlock, toBlocks } from './blocks.ts';
import { createInsertStep, type EncodedBlock, type Refused } from './insert.ts';
import type { Lease } from './leases.ts';
import type { Prepared } from './prepare.ts';

/** A range, and its blocks for ClickHouse. */
export type Ready = { prepared: Prepared; blocks: EncodedBlock[] };

/** How the blocks of a range are inserted. */
export type Attempt = {
  /** The deduplication tokens begin with this. */
  token: string;
  /** An earlier attempt may have inserted some of the rows. */
  isReplay: boolean;
};

/** Stores the ranges of a lane in one replica of ClickHouse. */
export type ReplicaStore = {
  readonly name: string;
  /**
   * Inserts the blocks of a range. Waits while ClickHouse fails.
   *
   * @returns the rows that ClickHouse refuses
   * @throws {LaneLost} or the reason of the signal
   */
  store(ready: Ready, attempt: Attempt): Promise<Refused[]>;
  /** Called when the range is part of the replica's progress. */
  advanced(prepared: Prepared): void;
  /** Ends what runs. */
  stop(reason: Error): void;
};

export type ReplicaStoreDependencies = {
  metrics: WorkerMetrics;
  log: Logger;
  lease: Lease;
  signal: AbortSignal;
  /** Reads the progress of streams in the replica. */
  readMarks: () => Promise<StreamProgress[]>;
  onBlock?: () => void | Promise<void>;
};

/**
 * Creates the store of one replica for the time that this process has the lane.
 *
 * ClickHouse may have events above the high-water marks. Some are those of an intent. The others were stored before
 * PostgreSQL went back in time, such as to a standby that was behind or to a restored volume. So the store compares the
 * two databases first. It looks rows up before it inserts them, up to the sequence that `doubt` has for their stream.
 *
 * @param marks the progress of streams in the replica
 */
export function createReplicaStore(
  dependencies: ReplicaStoreDependencies,
  replica: Replica,
  lane: Lane,
  marks: readonly StreamProgress[],
): ReplicaStore {
  const { metrics, lease, readMarks, onBlock } = dependencies;
  const { name, clickhouse } = replica;
  const log = dependencies.log.child({ replica: name });
  const ending = new AbortController();
  const follow = () => ending.abort(dependencies.signal.reason);
  if (dependencies.signal.aborted) follow();
  else dependencies.signal.addEventListener('abort', follow, { once: true });
  const { signal } = ending;
  const isFinal = (error: unknown) =>
    error instanceof LaneLost || error instanceof LaneMoved || isRefusal(error);
  const retry = createRetry({ log, metrics, signal, isFinal });
  const insert = createInsertStep({ clickhouse, metrics, log, signal, retry, assertHeld });

  let doubt = new Map<number, bigint>();
  /** The lapses of the lease when ClickHouse was last compared. */
  let lapses = 0;
  let foundAgain = 0;
  const compared = compare();
  compared.catch(() => undefined);

  async function compare(): Promise<void> {
    doubt = await retry('look_up_stored', () => storedAbove(clickhouse, marks));
  }

  function isInDoubt({ rows }: Block): boolean {
    return doubt.size > 0 && rows.some((row) => row.sequence <= (doubt.get(row.ordinal) ?? -1n));
  }

  /**
   * Renews a lease that may have expired: while this process slept, a successor may have stored the range so long ago
   * that ClickHouse has dropped its tokens. It may have slept until the response came, too.
   *
   * A lease that had expired and is renewed nevertheless proves nothing about the time between: a successor may have
   * stored ranges, and PostgreSQL may have lost its commits in a failover. So ClickHouse is compared again.
   *
   * @returns whether no other worker can have stored anything since the last call
   */
  async function assertHeld(): Promise<boolean> {
    let isOurs = true;
    for (;;) {
      while (!lease.isHeld()) await retry('renew_lane', lease.renew);
      const now = lease.lapses();
      if (now === lapses) return isOurs;
      doubt = await retry('look_up_stored', async () => storedAbove(clickhouse, await readMarks()));
      lapses = now;
      isOurs = false;
    }
  }

  /** Logs once, when the lane is past them, how many events it found in ClickHouse without a record in PostgreSQL. */
  function settleDoubt({ streams, range }: Prepared): void {
    let isSettled = true;
    for (const { ordinal, highWater } of streams) {
      if ((doubt.get(ordinal) ?? -1n) <= highWater) doubt.delete(ordinal);
      else isSettled = false;
    }
    if (foundAgain === 0 || !isSettled) return;
    log.error(
      { events: foundAgain, from: String(lane.nextOffset), to: String(range.to) },
      'PostgreSQL had no record of events that ClickHouse has, as after a failover or a restore; each counts once',
    );
    foundAgain = 0;
  }

  return {
    name,
    async store({ prepared, blocks }, { token, isReplay }) {
      await compared;
      const refused: Refused[] = [];
      for (const block of blocks) {
        const mayBeStored = isReplay || prepared.isSentAgain || isInDoubt(block.block);
        const stored = await insert(block, token, mayBeStored);
        refused.push(...stored.refused);
        if (!isReplay) foundAgain += stored.found;
        await onBlock?.();
      }
      return refused;
    },
    advanced: settleDoubt,
    stop(reason) {
      dependencies.signal.removeEventListener('abort', follow);
      ending.abort(reason);
    },
  };
}

/** Returns a prepared range with its blocks. */
export function encoded(prepared: Prepared): Ready {
  return { prepared, blocks: toBlocks(prepared).map((block) => ({ block, bytes: encodeBlock(block) })) };
}
