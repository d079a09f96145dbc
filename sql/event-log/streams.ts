import { setTimeout as delay } from 'node:timers/promises';
import type { MissingRange, NewStream, StreamLoad, StreamRecord } from '../../core/event-log/port.ts';
import { uuidv7 } from '../../core/ids.ts';
import { assertInvariant } from '../../core/invariants.ts';
import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';
import { inTransaction, type Pool, type PoolClient } from '../database/pool.ts';
import { type CountedHour, columnsOfCounts, countClicks } from './counted-clicks.ts';
import type { Lane } from './lanes.ts';
import { type MissingRecord, rangesAbove, toMissingRecord } from './missing.ts';

/** Progress of a stream. */
export type StreamProgress = {
  streamId: string;
  ordinal: number;
  /** Last sequence whose event is in ClickHouse; -1: none. */
  highWater: bigint;
  /** Microseconds: every event of the stream older than this is visible. */
  visibleBefore: number;
  /** The stream's clock was set back since its last advance, so `visibleBefore` may decrease. */
  isSetBack?: boolean;
  /** Ranges below `highWater` that the log has lost and the stream's process is asked for, in order. Left out: none. */
  missing?: readonly MissingRange[];
  /** What is missing up to this sequence, the process no longer has. */
  unsendable?: bigint;
  /** Nothing that it lacks is waited for. */
  isRetired?: boolean;
};

export type RegisteredStream = Required<NewStream>;

/** Number of ordinals. A stream's ordinal is the last three digits of the nanoseconds of its events. */
export const ORDINALS = 1000;
/** The ordinal of imported clicks. No stream has it, so an imported click never has the time of another one. */
export const IMPORTED_ORDINAL = ORDINALS - 1;
/** Places of streams by their load: 0, 1, 2, ... and -1, -2, -3, ... */
const FIRST_PLACE: Readonly<Record<StreamLoad, number>> = { busy: 0, idle: -1 };
const STEP: Readonly<Record<StreamLoad, number>> = { busy: 1, idle: -1 };
/** Longest wait for the table lock, in milliseconds: workers queue behind the registration. */
const LOCK_WAIT_MS = 250;
/** Pause between attempts, in milliseconds: the table is free for workers. */
const RETRY_PAUSE_MS = 500;
const LOCK_ATTEMPTS = 30;
/** A registration whose process vanishes while it holds the lock is rolled back after this, in milliseconds. */
const IDLE_LIMIT_MS = 2_000;
/** SQLSTATE `lock_not_available`. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Registers a new stream under the lowest free ordinal, or returns its registration when the id is known: a caller
 * that does not know whether it succeeded repeats the call with the same id.
 * A stream's identity is in its `stream.json`. A process that lost the file starts a new stream, and the older stream
 * of the same name holds the watermark until it is retired ({@link retireStream}).
 *
 * `former` is the ordinal of a stream that a restored backup does not know: the stream keeps it unless another stream
 * got it since, so that its click ids stay the same.
 *
 * `load` decides the stream's place, the lowest that no active stream of the load has.
 *
 * `notBefore` is the newest watermark that may have been returned. A writer whose clock is behind starts its times
 * there, or a poller past it would miss the stream's first events. With an active stream that is the present
 * watermark, which never decreases. With none it is the newest `visible_before` of all streams.
 *
 * @throws Error when all ordinals are in use
 */
export async function registerStream(
  pool: Pool,
  name: string,
  streamId = uuidv7(),
  former: number | null = null,
  load: StreamLoad = 'busy',
): Promise<RegisteredStream> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(pool, (client) => register(client, name, streamId, former, load));
    } catch (error) {
      if (attempt === LOCK_ATTEMPTS || !isLockNotAvailable(error)) throw error;
      await delay(RETRY_PAUSE_MS);
    }
  }
}

async function register(
  client: PoolClient,
  name: string,
  streamId: string,
  former: number | null,
  load: StreamLoad,
): Promise<RegisteredStream> {
  // An earlier attempt whose response was lost has ended once this returns.
  await client.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.streams]);
  const { rows: known } = await client.query<{ ordinal: number; place: number; visible_before: number }>(
    'SELECT ordinal, place, visible_before FROM ingest_streams WHERE stream_id = $1 AND ordinal IS NOT NULL',
    [streamId],
  );
  if (known[0]) {
    const { ordinal, place, visible_before: notBefore } = known[0];
    return { streamId, ordinal, place, notBefore };
  }
  await freezeWatermark(client);
  const { rows } = await client.query<{
    lowest: number | null;
    is_taken: boolean;
    place: number;
    not_before: number;
  }>(
    `SELECT (SELECT min(candidate) FROM generate_series(0, $1::int - 2) AS candidate
             WHERE NOT EXISTS (SELECT 1 FROM ingest_streams WHERE ordinal = candidate)) AS lowest,
            EXISTS (SELECT 1 FROM ingest_streams WHERE ordinal = $2) AS is_taken,
            (SELECT min(candidate) FROM generate_series(0, $1::int - 1) AS candidate
             WHERE NOT EXISTS (SELECT 1 FROM ingest_streams
                               WHERE state = 'active' AND place = $3::int + $4::int * candidate)) AS place,
            coalesce((SELECT min(visible_before) FROM ingest_streams WHERE state = 'active'),
                     (SELECT max(visible_before) FROM ingest_streams), 0)::bigint AS not_before`,
    [ORDINALS, former === IMPORTED_ORDINAL ? null : former, FIRST_PLACE[load], STEP[load]],
  );
  const ordinal = (rows[0]?.is_taken ? null : former) ?? rows[0]?.lowest ?? null;
  if (ordinal === null) throw new Error(`stream ${name}: all ${IMPORTED_ORDINAL} ordinals are in use`);
  const notBefore = rows[0]?.not_before ?? 0;
  const place = FIRST_PLACE[load] + STEP[load] * (rows[0]?.place ?? 0);
  await client.query(
    'INSERT INTO ingest_streams (stream_id, ordinal, place, name, visible_before) VALUES ($1, $2, $3, $4, $5)',
    [streamId, ordinal, place, name, notBefore],
  );
  return { streamId, ordinal, place, notBefore };
}

/**
 * Freezes the watermark until the transaction ends; reads continue. Otherwise it could advance between its read and
 * the commit of a stream that starts there, and that commit would move it back.
 *
 * It locks the whole table: row locks would be taken in an order that advances of several streams don't follow. The
 * transaction waits for no lock after it, so it can't deadlock, and foreign keys can still be checked.
 *
 * @throws an error of {@link LOCK_NOT_AVAILABLE} when another transaction takes too long: later ones queue behind
 *   this lock
 */
async function freezeWatermark(transaction: PoolClient): Promise<void> {
  await transaction.query(
    `SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)`,
    [String(LOCK_WAIT_MS), String(IDLE_LIMIT_MS)],
  );
  await transaction.query('LOCK TABLE ingest_streams IN SHARE ROW EXCLUSIVE MODE');
}

function isLockNotAvailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}

/**
 * Returns the progress of every stream with an ordinal. Retired ones too: events that still arrive from them are
 * stored.
 */
export async function readStreams(db: Queryable): Promise<StreamProgress[]> {
  const { rows } = await db.query<{
    stream_id: string;
    ordinal: number;
    high_water: string;
    visible_before: number;
    missing: MissingRecord;
    unsendable: string;
    is_retired: boolean;
  }>(
    `SELECT stream_id, ordinal, high_water, visible_before, missing, unsendable, state = 'retired' AS is_retired
     FROM ingest_streams WHERE ordinal IS NOT NULL`,
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

/**
 * Moves streams forward, and back only where their clock was set back. Call it in the transaction that advances their
 * lane.
 */
export async function advanceStreams(
  transaction: Queryable,
  streams: readonly StreamProgress[],
): Promise<void> {
  if (streams.length === 0) return;
  await transaction.query(ADVANCE_STREAMS, columnsOf(streams));
}

const ADVANCE_STREAMS = `UPDATE ingest_streams AS stream
  SET high_water = greatest(stream.high_water, moved.high_water),
      visible_before = CASE WHEN moved.is_set_back THEN moved.visible_before
        ELSE greatest(stream.visible_before, moved.visible_before) END,
      missing = moved.missing
  FROM unnest($1::uuid[], $2::numeric[], $3::bigint[], $4::boolean[], $5::jsonb[])
    AS moved (stream_id, high_water, visible_before, is_set_back, missing)
  WHERE stream.stream_id = moved.stream_id`;

const columnsOf = (streams: readonly StreamProgress[]) => [
  streams.map((stream) => stream.streamId),
  streams.map((stream) => String(stream.highWater)),
  streams.map((stream) => stream.visibleBefore),
  streams.map((stream) => stream.isSetBack ?? false),
  streams.map(({ missing = [] }) => JSON.stringify(toMissingRecord(missing))),
];

/**
 * Advances a lane and its streams, and counts the range's clicks, in one statement, for a range of which PostgreSQL
 * stores nothing else. Fenced as in `lockLane`.
 *
 * @returns false when the lane is not held under this epoch or is not at `from`: nothing has changed
 */
export async function advanceLaneAndStreams(
  db: Queryable,
  lane: Lane,
  { from, to }: { from: bigint; to: bigint },
  streams: readonly StreamProgress[],
  counted: readonly CountedHour[],
): Promise<boolean> {
  assertInvariant(
    'lane_forward',
    to >= from,
    () => `${lane.consumer}/${lane.partition} at ${from} was to advance to ${to}`,
  );
  const { rows } = await db.query<{ advanced: boolean }>({
    name: 'advance_lane_and_streams',
    text: `WITH lane AS (
       UPDATE log_lanes SET next_offset = $10, intent = NULL, updated_at = now()
       WHERE consumer = $6 AND partition = $7 AND epoch = $8 AND held_by = $11 AND next_offset = $9 RETURNING 1),
     streams AS (${ADVANCE_STREAMS} AND EXISTS (SELECT FROM lane)),
     counts AS (${countClicks(12, 'EXISTS (SELECT FROM lane)')})
     SELECT EXISTS (SELECT FROM lane) AS advanced`,
    values: [
      ...columnsOf(streams),
      ...[lane.consumer, lane.partition, lane.epoch, String(from), String(to), lane.holder],
      ...columnsOfCounts(counted),
    ],
  });
  return rows[0]?.advanced === true;
}

/** SQL of {@link watermark}. */
export const WATERMARK = `SELECT min(visible_before) AS watermark FROM ingest_streams WHERE state = 'active'`;

/**
 * Returns the watermark, in microseconds since the epoch: **every click with `ts` older than it is already visible in
 * ClickHouse**. It is the least `visible_before` of the streams that are not retired.
 *
 * - Heartbeats of an idle stream advance it. A stream whose writer is dead holds it until its journal is drained and
 *   the stream is retired: only the journal tells what it still holds.
 * - Read it before the query that it is returned with: a click that becomes visible in between is newer.
 * - Events in the dead letters are the exception: they are invisible even if older.
 *
 * @returns null when there is no stream, and so no click
 */
export async function watermark(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ watermark: number | null }>(WATERMARK);
  return rows[0]?.watermark ?? null;
}

/**
 * Retires a stream whose writer will never come back, so that it no longer holds the watermark. Its later events are
 * still inserted, behind the watermark.
 *
 * @returns false when there is no such active stream
 */
export async function retireStream(db: Queryable, streamId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE ingest_streams SET state = 'retired', retired_at = now() WHERE stream_id = $1 AND state = 'active'`,
    [streamId],
  );
  return rowCount === 1;
}

/** Returns the state of a stream, registered or not, and how far readers are in the journals of its name. */
export async function streamRecord(db: Queryable, streamId: string, name: string): Promise<StreamRecord> {
  const { rows } = await db.query<{
    state: 'active' | 'retired' | null;
    high_water: string | null;
    read_up_to: string;
    visible_before: number | null;
  }>(
    `SELECT stream.state, stream.high_water, stream.visible_before,
       (SELECT coalesce(max(greatest(next_offset, (intent ->> 'to')::numeric)), 0)
        FROM log_lanes WHERE partition = $2) AS read_up_to
     FROM (VALUES ($1::uuid)) AS wanted (id) LEFT JOIN ingest_streams AS stream ON stream_id = wanted.id`,
    [streamId, name],
  );
  const { state, high_water: highWater, read_up_to: readUpTo, visible_before: visibleBefore } = rows[0] ?? {};
  return {
    state: state ?? 'unregistered',
    stored: BigInt(highWater ?? -1),
    readUpTo: BigInt(readUpTo ?? 0),
    visibleBefore: visibleBefore ?? 0,
  };
}

export type ListedStream = {
  stream_id: string;
  name: string;
  ordinal: number;
  state: 'active' | 'retired';
  /** Microseconds since the epoch. */
  visible_before: number;
};

/** Returns every stream with an ordinal, the one that holds the watermark first. */
export async function listStreams(db: Queryable): Promise<ListedStream[]> {
  const { rows } = await db.query<ListedStream>(
    `SELECT stream_id, name, ordinal, state, visible_before FROM ingest_streams WHERE ordinal IS NOT NULL
     ORDER BY state, visible_before, ordinal`,
  );
  return rows;
}
