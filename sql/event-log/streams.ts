import { setTimeout as delay } from 'node:timers/promises';
import type { NewStream, StreamRecord } from '../../core/event-log/port.ts';
import { uuidv7 } from '../../core/ids.ts';
import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';
import { inTransaction, type Pool, type PoolClient } from '../database/pool.ts';
import { DOUBT_ONLY, type Lane } from './lanes.ts';

/** How far a stream has been worked off. */
export type StreamProgress = {
  streamId: string;
  ordinal: number;
  /** Last sequence whose event stands in the store; -1: none. */
  highWater: bigint;
  /** Microseconds: every event of the stream older than this is visible. */
  visibleBefore: number;
  /** The stream's clock was set back since it was advanced last, so `visibleBefore` may be less than what is stored. */
  isSetBack?: boolean;
};

export type RegisteredStream = Required<NewStream>;

/** A stream has one of these, from 0 on: the last three digits of the nanoseconds of its events. */
export const ORDINALS = 1000;
/** Workers that come behind a registration wait as long as it does, milliseconds. */
const STILL_WAIT_MS = 250;
/** They have the table to themselves so long before it is asked for again, milliseconds. */
const STILL_PAUSE_MS = 500;
const STILL_TRIES = 30;
/** A registration whose process vanishes while the streams stand still is given up after so long, milliseconds. */
const STILL_IDLE_MS = 2_000;
/** SQLSTATE `lock_not_available`. */
const NOT_STILL = '55P03';

/**
 * Registers a new stream under the lowest ordinal never used, or answers what it was registered as: whoever does not know
 * whether that has happened asks again with the same id. A stream's identity lives in its `stream.json`, and whoever
 * has lost that file begins a new stream. The older stream of the same name then holds the watermark until it
 * is retired ({@link retireStream}).
 *
 * `former` is the ordinal of a stream that a restored backup does not know: it gets that one again unless it was given away
 * since, so that the ids of its clicks stay what they were.
 *
 * `notBefore` is the newest watermark that may have been handed out. A writer whose clock is behind begins its
 * times there, or a poller that has passed it would miss the stream's first events. While a stream is active that is the
 * present watermark, since it never goes back: a stream ahead of it, active or retired, dates nobody else's events ahead.
 * With none active it may have been that of any of them, and which was the last is not known: the newest is taken.
 *
 * @throws Error when a thousand streams exist
 */
export async function registerStream(
  pool: Pool,
  name: string,
  streamId = uuidv7(),
  former: number | null = null,
): Promise<RegisteredStream> {
  for (let tries = 1; ; tries++) {
    try {
      return await inTransaction(pool, (client) => register(client, name, streamId, former));
    } catch (error) {
      if (tries === STILL_TRIES || !isNotStill(error)) throw error;
      await delay(STILL_PAUSE_MS);
    }
  }
}

async function register(
  client: PoolClient,
  name: string,
  streamId: string,
  former: number | null,
): Promise<RegisteredStream> {
  // An earlier attempt whose answer was lost has ended when this is answered.
  await client.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.streams]);
  const { rows: known } = await client.query<{ ordinal: number; visible_before: number }>(
    'SELECT ordinal, visible_before FROM ingest_streams WHERE stream_id = $1',
    [streamId],
  );
  if (known[0]) return { streamId, ordinal: known[0].ordinal, notBefore: known[0].visible_before };
  await freezeWatermark(client);
  const { rows } = await client.query<{
    lowest: number | null;
    is_given_away: boolean;
    not_before: number;
  }>(
    `SELECT (SELECT min(candidate) FROM generate_series(0, $1::int - 1) AS candidate
             WHERE NOT EXISTS (SELECT 1 FROM ingest_streams WHERE ordinal = candidate)) AS lowest,
            EXISTS (SELECT 1 FROM ingest_streams WHERE ordinal = $2) AS is_given_away,
            coalesce((SELECT min(visible_before) FROM ingest_streams WHERE state = 'active'),
                     (SELECT max(visible_before) FROM ingest_streams), 0)::bigint AS not_before`,
    [ORDINALS, former],
  );
  const ordinal = (rows[0]?.is_given_away ? null : former) ?? rows[0]?.lowest ?? null;
  if (ordinal === null) throw new Error(`stream ${name}: all ${ORDINALS} ordinals are in use`);
  const notBefore = rows[0]?.not_before ?? 0;
  await client.query(
    'INSERT INTO ingest_streams (stream_id, ordinal, name, visible_before) VALUES ($1, $2, $3, $4)',
    [streamId, ordinal, name, notBefore],
  );
  return { streamId, ordinal, notBefore };
}

/**
 * Keeps the watermark where it is until the transaction ends, while everybody reads: a watermark that moves on between the
 * look at it and the commit of a stream that begins there would go back with that commit.
 *
 * The whole table at once, because rows would be locked in an order that no advance of several streams keeps to. Then
 * nothing is waited for any more, so nobody can wait in a circle, and foreign keys may still be checked.
 *
 * @throws an error of {@link NOT_STILL} when somebody else's transaction takes too long: who comes behind waits too
 */
async function freezeWatermark(transaction: PoolClient): Promise<void> {
  await transaction.query(
    `SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)`,
    [String(STILL_WAIT_MS), String(STILL_IDLE_MS)],
  );
  await transaction.query('LOCK TABLE ingest_streams IN SHARE ROW EXCLUSIVE MODE');
}

function isNotStill(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === NOT_STILL;
}

/** Progress of every stream, retired ones too: events that still arrive from them are taken in. */
export async function readStreams(db: Queryable): Promise<StreamProgress[]> {
  const { rows } = await db.query<{
    stream_id: string;
    ordinal: number;
    high_water: string;
    visible_before: number;
  }>('SELECT stream_id, ordinal, high_water, visible_before FROM ingest_streams');
  return rows.map((row) => ({
    streamId: row.stream_id,
    ordinal: row.ordinal,
    highWater: BigInt(row.high_water),
    visibleBefore: row.visible_before,
  }));
}

/** The newest sequence of a stream that is stored; -1 before the first one, and for a stream that is not registered. */
export async function highWater(db: Queryable, streamId: string): Promise<bigint> {
  const { rows } = await db.query<{ high_water: string }>(
    'SELECT high_water FROM ingest_streams WHERE stream_id = $1',
    [streamId],
  );
  return BigInt(rows[0]?.high_water ?? -1);
}

/** Moves streams forward, and back only where their clock was set back. In the transaction that advances their lane. */
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
        ELSE greatest(stream.visible_before, moved.visible_before) END
  FROM unnest($1::uuid[], $2::numeric[], $3::bigint[], $4::boolean[])
    AS moved (stream_id, high_water, visible_before, is_set_back)
  WHERE stream.stream_id = moved.stream_id`;

const columnsOf = (streams: readonly StreamProgress[]) => [
  streams.map((stream) => stream.streamId),
  streams.map((stream) => String(stream.highWater)),
  streams.map((stream) => stream.visibleBefore),
  streams.map((stream) => stream.isSetBack ?? false),
];

/**
 * Moves a lane and its streams on in one statement, for a range of which Postgres keeps nothing else. Fenced as
 * `lockLane` does.
 *
 * @returns false when the lane is not held under this epoch or not at `from`: then nothing has changed
 */
export async function advanceLaneAndStreams(
  db: Queryable,
  lane: Lane,
  { from, to }: { from: bigint; to: bigint },
  streams: readonly StreamProgress[],
): Promise<boolean> {
  const { rows } = await db.query<{ advanced: boolean }>({
    name: 'advance_lane_and_streams',
    text: `WITH lane AS (
       UPDATE log_lanes SET next_offset = $9, intent = ${DOUBT_ONLY}, updated_at = now()
       WHERE consumer = $5 AND partition = $6 AND epoch = $7 AND next_offset = $8 RETURNING 1),
     streams AS (${ADVANCE_STREAMS} AND EXISTS (SELECT FROM lane))
     SELECT EXISTS (SELECT FROM lane) AS advanced`,
    values: [...columnsOf(streams), lane.consumer, lane.partition, lane.epoch, String(from), String(to)],
  });
  return rows[0]?.advanced === true;
}

/** The question of {@link watermark}. */
export const WATERMARK = `SELECT min(visible_before) AS watermark FROM ingest_streams WHERE state = 'active'`;

/**
 * The watermark, in microseconds since the epoch: **every click with `ts` older than it is already visible in
 * ClickHouse**. It is the least `visible_before` of the streams that are not retired.
 *
 * - An idle stream moves it by its heartbeats; a stream whose writer is dead holds it until its journal has
 *   been worked off and it is retired, because nobody else can know what its journal still holds.
 * - Read it before the query that it is answered with: what becomes visible in between is then simply newer.
 * - Events in the dead letters are the exception: they are not visible, whatever their time.
 *
 * @returns null when there is no stream, so no click either
 */
export async function watermark(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ watermark: number | null }>(WATERMARK);
  return rows[0]?.watermark ?? null;
}

/**
 * Says that a stream's writer will never come back, so that it no longer holds the watermark. Events of it that
 * arrive later are inserted all the same, behind the watermark.
 *
 * @returns false when there is no such active stream
 */
export async function retireStream(db: Queryable, streamId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE ingest_streams SET state = 'retired' WHERE stream_id = $1 AND state = 'active'`,
    [streamId],
  );
  return rowCount === 1;
}

/** What is known of a stream, which need not be registered, and of the journals of its name. */
export async function streamRecord(db: Queryable, streamId: string, name: string): Promise<StreamRecord> {
  const { rows } = await db.query<{
    state: 'active' | 'retired' | null;
    high_water: string | null;
    read_up_to: string;
  }>(
    `SELECT stream.state, stream.high_water,
       (SELECT coalesce(max(greatest(next_offset, (intent ->> 'to')::numeric)), 0)
        FROM log_lanes WHERE partition = $2) AS read_up_to
     FROM (VALUES ($1::uuid)) AS asked (id) LEFT JOIN ingest_streams AS stream ON stream_id = asked.id`,
    [streamId, name],
  );
  const { state, high_water: highWater, read_up_to: readUpTo } = rows[0] ?? {};
  return {
    state: state ?? 'unregistered',
    stored: BigInt(highWater ?? -1),
    readUpTo: BigInt(readUpTo ?? 0),
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

/** Every stream, the one that holds the watermark first. */
export async function listStreams(db: Queryable): Promise<ListedStream[]> {
  const { rows } = await db.query<ListedStream>(
    `SELECT stream_id, name, ordinal, state, visible_before FROM ingest_streams
     ORDER BY state, visible_before, ordinal`,
  );
  return rows;
}
