import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';
import {
  fromRecord,
  type Intent,
  type IntentRecord,
  type Lane,
  LaneLost,
  lockLane,
  toRecord,
} from './lanes.ts';
import { type MissingRecord, rangesAbove, toMissingRecord } from './missing.ts';
import type { StreamProgress } from './streams.ts';

/** The progress of a replica of ClickHouse that is behind the lane of a partition. */
export type ReplicaLane = {
  replica: string;
  nextOffset: bigint;
  /** What it was about to insert. It is replayed before anything else. */
  intent: Intent | null;
  /** The log no longer holds `nextOffset`. */
  isLost: boolean;
};

/** Returns the names of all replicas. One that is not among them has no data. */
export async function replicaNames(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('SELECT name FROM replicas');
  return rows.map(({ name }) => name).sort();
}

/** Returns the replicas that are behind the lane of a partition. Every other one has what the lane has. */
export async function replicasBehind(db: Queryable, partition: string): Promise<ReplicaLane[]> {
  const { rows } = await db.query<{
    replica: string;
    next_offset: string;
    intent: IntentRecord | null;
    is_lost: boolean;
  }>(
    `SELECT replica, next_offset, intent, lost_at IS NOT NULL AS is_lost FROM replica_lanes WHERE partition = $1`,
    [partition],
  );
  return rows.map((row) => ({
    replica: row.replica,
    nextOffset: BigInt(row.next_offset),
    intent: fromRecord(row.intent),
    isLost: row.is_lost,
  }));
}

/** SQL of a table expression with a row while this process has the lane, whose row it locks. */
const HELD = `lane AS MATERIALIZED (SELECT next_offset FROM log_lanes
  WHERE consumer = $1 AND partition = $2 AND epoch = $3 AND held_by = $4 FOR UPDATE)`;

const held = (lane: Lane) => [lane.consumer, lane.partition, lane.epoch, lane.holder];

/**
 * Records that a replica stays where the lane is while the lane continues. Call it before the lane advances; it may be
 * repeated.
 *
 * @param at the lane's offset, and what the replica may have of the range after it
 * @throws {LaneLost}
 */
export async function fallBehind(
  db: Queryable,
  lane: Lane,
  replica: string,
  at: { nextOffset: bigint; intent: Intent | null },
): Promise<void> {
  const { rowCount } = await db.query(
    `WITH ${HELD}
     INSERT INTO replica_lanes AS behind (replica, partition, next_offset, intent)
     SELECT $5, $2, $6::numeric, $7::jsonb FROM lane WHERE next_offset = $6::numeric
     ON CONFLICT (replica, partition) DO UPDATE SET updated_at = now() WHERE behind.next_offset = excluded.next_offset`,
    [...held(lane), replica, String(at.nextOffset), at.intent && toRecord(at.intent)],
  );
  if (rowCount !== 1) throw new LaneLost(lane);
}

/**
 * Keeps the progress of streams for replicas that are behind. Call it in the transaction that advances the lane past
 * them.
 *
 * @param before the streams before the range
 */
export async function keepStreams(
  transaction: Queryable,
  partition: string,
  replicas: readonly string[],
  before: readonly StreamProgress[],
): Promise<void> {
  if (replicas.length === 0 || before.length === 0) return;
  await transaction.query(
    `INSERT INTO replica_streams (replica, partition, stream_id, high_water, visible_before, missing)
     SELECT replica, $2, kept.* FROM unnest($1::text[]) AS replica,
       unnest($3::uuid[], $4::numeric[], $5::bigint[], $6::jsonb[]) AS kept
     ON CONFLICT DO NOTHING`,
    [replicas, partition, ...columnsOf(before)],
  );
}

/**
 * Records the range that a replica which is behind is about to insert. May be repeated.
 *
 * @throws {LaneLost}
 */
export async function commitReplicaIntent(
  db: Queryable,
  lane: Lane,
  replica: string,
  intent: Intent,
): Promise<void> {
  const { rowCount } = await db.query(
    `WITH ${HELD}
     UPDATE replica_lanes AS behind SET intent = $7, updated_at = now() FROM lane
     WHERE behind.replica = $5 AND behind.partition = $2 AND behind.next_offset = $6`,
    [...held(lane), replica, String(intent.from), toRecord(intent)],
  );
  if (rowCount !== 1) throw new LaneLost(lane);
}

/**
 * Advances a replica that is behind, and its streams. May be repeated.
 *
 * @param also what else the transaction stores
 * @throws {LaneLost}
 */
export async function advanceReplica(
  pool: Pool,
  lane: Lane,
  replica: string,
  { from, to }: { from: bigint; to: bigint },
  streams: readonly StreamProgress[],
  also: (transaction: Queryable) => Promise<void>,
): Promise<void> {
  const { partition } = lane;
  await inTransaction(pool, async (transaction) => {
    await lockLane(transaction, lane);
    const at = await offsetOf(transaction, partition, replica);
    // An earlier attempt committed, and its response was lost.
    if (at === to) return;
    if (at !== from) throw new LaneLost(lane);
    await transaction.query(
      `UPDATE replica_lanes SET next_offset = $3, intent = NULL, updated_at = now()
       WHERE replica = $1 AND partition = $2`,
      [replica, partition, String(to)],
    );
    await transaction.query(
      `INSERT INTO replica_streams (replica, partition, stream_id, high_water, visible_before, missing)
       SELECT $1, $2, moved.* FROM unnest($3::uuid[], $4::numeric[], $5::bigint[], $6::jsonb[]) AS moved
       ON CONFLICT (replica, partition, stream_id) DO UPDATE
         SET high_water = excluded.high_water, visible_before = excluded.visible_before, missing = excluded.missing`,
      [replica, partition, ...columnsOf(streams)],
    );
    await also(transaction);
  });
}

/**
 * Records that a replica has everything that the lane has. May be repeated.
 *
 * @returns false when the lane is at another offset
 * @throws {LaneLost}
 */
export async function joinLane(pool: Pool, lane: Lane, replica: string): Promise<boolean> {
  return inTransaction(pool, async (transaction) => {
    const offset = await lockLane(transaction, lane);
    const at = await offsetOf(transaction, lane.partition, replica);
    if (at !== null && at !== offset) return false;
    await transaction.query('DELETE FROM replica_lanes WHERE replica = $1 AND partition = $2', [
      replica,
      lane.partition,
    ]);
    return true;
  });
}

/** Records that the log no longer holds what a replica lacks. @throws {LaneLost} */
export async function markLost(pool: Pool, lane: Lane, replica: string): Promise<void> {
  await inTransaction(pool, async (transaction) => {
    await lockLane(transaction, lane);
    await transaction.query(
      'UPDATE replica_lanes SET lost_at = coalesce(lost_at, now()) WHERE replica = $1 AND partition = $2',
      [replica, lane.partition],
    );
  });
}

/** Returns the progress of every stream with an ordinal in a replica, for a partition that it may be behind. */
export async function readReplicaStreams(
  db: Queryable,
  replica: string,
  partition: string,
): Promise<StreamProgress[]> {
  const { rows } = await db.query<{
    stream_id: string;
    ordinal: number;
    high_water: string;
    visible_before: number;
    missing: MissingRecord;
    unsendable: string;
    is_retired: boolean;
  }>(
    `SELECT stream.stream_id, ordinal, state = 'retired' AS is_retired, unsendable,
       coalesce(own.high_water, stream.high_water) AS high_water,
       coalesce(own.visible_before, stream.visible_before) AS visible_before,
       coalesce(own.missing, stream.missing) AS missing
     FROM ingest_streams AS stream LEFT JOIN replica_streams AS own
       ON own.stream_id = stream.stream_id AND own.replica = $1 AND own.partition = $2
     WHERE ordinal IS NOT NULL`,
    [replica, partition],
  );
  return rows.map((row) => ({
    streamId: row.stream_id,
    ordinal: row.ordinal,
    highWater: BigInt(row.high_water),
    visibleBefore: row.visible_before,
    missing: row.is_retired ? [] : rangesAbove(row.missing, BigInt(row.unsendable)),
    unsendable: BigInt(row.unsendable),
    isRetired: row.is_retired,
  }));
}

async function offsetOf(transaction: Queryable, partition: string, replica: string): Promise<bigint | null> {
  const { rows } = await transaction.query<{ next_offset: string }>(
    'SELECT next_offset FROM replica_lanes WHERE replica = $1 AND partition = $2 FOR UPDATE',
    [replica, partition],
  );
  return rows[0] ? BigInt(rows[0].next_offset) : null;
}

const columnsOf = (streams: readonly StreamProgress[]) => [
  streams.map(({ streamId }) => streamId),
  streams.map(({ highWater }) => String(highWater)),
  streams.map(({ visibleBefore }) => visibleBefore),
  streams.map(({ missing = [] }) => JSON.stringify(toMissingRecord(missing))),
];
