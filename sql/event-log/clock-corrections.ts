import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';
import { nextVersion } from '../orders/orders.ts';
import { queuePublications } from '../orders/publications.ts';
import { IS_FILL } from './replica-fills.ts';

/** The events of a stream whose times are ahead; see `ClockEvent`. Times are microseconds. */
export type CorrectionReport = {
  streamId: string;
  ordinal: number;
  first: bigint;
  before: bigint;
  fromTs: number;
  toTs: number;
  shift: number;
};

/** A correction that a replica of ClickHouse lacks. */
export type OpenCorrection = CorrectionReport & {
  id: number;
  /** Whether it is unclear which events have wrong times; null: no replica has looked. */
  isAmbiguous: boolean | null;
  /** Every event with a time before this is corrected. */
  correctedTo: number;
  /** The corrected copies of the next slice are inserted. */
  isCopied: boolean;
  /** The replica has every event whose time is to be corrected. */
  isReady: boolean;
};

/**
 * Inserts corrections, in the transaction that advances their lane, and corrects PostgreSQL's records of the events:
 * orders (which are attributed again), their commissions, waiting leads, and identities. Records without a stream are
 * corrected only if their time is in the future, because no other event has such a time.
 */
export async function insertCorrections(tx: Queryable, reports: readonly CorrectionReport[]): Promise<void> {
  for (const report of reports) {
    const { streamId, ordinal, first, before, fromTs, toTs, shift } = report;
    const { rowCount } = await tx.query(
      `WITH inserted AS (
         INSERT INTO clock_corrections (stream_id, ordinal, first, before, from_ts, to_ts, shift)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (stream_id, before) DO NOTHING RETURNING id)
       INSERT INTO replica_corrections (replica, correction_id, corrected_to)
       SELECT name, id, $5 FROM replicas, inserted`,
      [streamId, ordinal, String(first), String(before), fromTs, toTs, shift],
    );
    await tx.query('UPDATE ingest_streams SET clock_reset_requested_at = NULL WHERE stream_id = $1', [
      streamId,
    ]);
    if (rowCount !== 0) await correctRecords(tx, report);
  }
}

async function correctRecords(
  tx: Queryable,
  { ordinal, first, before, fromTs, toTs, shift }: CorrectionReport,
): Promise<void> {
  // Runs first, so that a report that is being stored meanwhile is among the records below.
  await tx.query(
    `UPDATE waiting_reports SET ts = ts - $4
     WHERE stream_ordinal = $1 AND ts BETWEEN $2 AND $3 AND sequence >= $5 AND sequence < $6`,
    [ordinal, fromTs, toTs, shift, String(first), String(before)],
  );
  // The replica that has the rows may have corrected them before another one gets them.
  await tx.query(
    `INSERT INTO replica_repairs (replica, work, subject)
     SELECT replica, work, split_part(subject, '/', 1) || '/' || (${MISSED_NANOS} - $4::bigint * 1000)
     FROM replica_repairs WHERE ${missesRows('$1', '$2', '$3')} ON CONFLICT DO NOTHING`,
    [ordinal, fromTs, toTs, shift],
  );
  const { rows } = await tx.query<{ internal_id: number }>(
    `UPDATE orders SET ts = ts - $4, version = ${nextVersion('orders')}
     WHERE stream_ordinal = $1 AND ts BETWEEN $2 AND $3 RETURNING internal_id`,
    [ordinal, fromTs, toTs, shift],
  );
  const orders = rows.map((row) => row.internal_id);
  await queuePublications(tx, orders);
  await tx.query(
    `UPDATE leads SET ts = ts - $4
     WHERE stream_ordinal = $1 AND ts BETWEEN $2 AND $3 AND attributed_at IS NULL`,
    [ordinal, fromTs, toTs, shift],
  );
  await tx.query(
    `UPDATE commissions SET eligible_at = eligible_at - $2 * interval '1 microsecond'
     WHERE order_internal_id = ANY ($1) AND status = 'pending' AND eligible_at >= to_timestamp($3 / 1e6::float8)`,
    [orders, shift, fromTs],
  );
  await tx.query(
    `UPDATE purchases SET purchased_at = purchased_at - $2 * interval '1 microsecond'
     WHERE order_internal_id = ANY ($1) AND purchased_at >= to_timestamp($3 / 1e6::float8)`,
    [orders, shift, fromTs],
  );
  if (fromTs < toTs - shift) return;
  await tx.query(
    `UPDATE identities SET first_ts = CASE WHEN first_ts BETWEEN $1 AND $2 THEN first_ts - $3 ELSE first_ts END,
       last_ts = last_ts - $3 WHERE last_ts BETWEEN $1 AND $2`,
    [fromTs, toTs, shift],
  );
  await tx.query(
    `UPDATE visitor_users SET first_ts = CASE WHEN first_ts BETWEEN $1 AND $2 THEN first_ts - $3 ELSE first_ts END,
       last_ts = last_ts - $3 WHERE last_ts BETWEEN $1 AND $2`,
    [fromTs, toTs, shift],
  );
}

/** SQL: the time of a row that a replica has missed, nanoseconds. */
const MISSED_NANOS = `split_part(subject, '/', 2)::bigint`;

/** SQL on `replica_repairs`: rows of a stream that a replica has missed. @param from SQL of times in microseconds */
const missesRows = (ordinal: string, from: string, to: string) =>
  `CASE WHEN work IN ('clicks', 'identifies') THEN ${MISSED_NANOS} % 1000 = ${ordinal}
     AND ${MISSED_NANOS} / 1000 BETWEEN ${from} AND ${to} ELSE false END`;

/** Returns whether a replica lacks a correction. */
export async function hasOpenCorrections(db: Queryable): Promise<boolean> {
  return (await db.query('SELECT FROM replica_corrections LIMIT 1')).rows.length === 1;
}

/**
 * Returns the corrections that a replica lacks, oldest first. One is ready when the replica has every event before it:
 * it is not filled any more, it is not behind, and it misses no row that other replicas have.
 */
export async function openCorrections(db: Queryable, replica: string): Promise<OpenCorrection[]> {
  const { rows } = await db.query<{
    id: number;
    stream_id: string;
    ordinal: number;
    first: string;
    before: string;
    from_ts: number;
    to_ts: number;
    shift: number;
    is_ambiguous: boolean | null;
    corrected_to: number;
    is_copied: boolean;
    is_ready: boolean;
  }>(
    `SELECT id, stream_id, ordinal, first, before, from_ts, to_ts, shift, is_ambiguous, corrected_to, is_copied,
       NOT EXISTS (SELECT FROM replica_streams AS own
         WHERE own.replica = $1 AND own.stream_id = correction.stream_id AND own.high_water < correction.before)
       AND NOT EXISTS (SELECT FROM replica_repairs AS missed
         WHERE missed.replica = $1 AND (${IS_FILL} OR ${missesRows('ordinal', 'from_ts', 'to_ts')})) AS is_ready
     FROM replica_corrections AS open JOIN clock_corrections AS correction ON id = correction_id
     WHERE open.replica = $1 ORDER BY id`,
    [replica],
  );
  return rows.map((row) => ({
    id: row.id,
    streamId: row.stream_id,
    ordinal: row.ordinal,
    first: BigInt(row.first),
    before: BigInt(row.before),
    fromTs: row.from_ts,
    toTs: row.to_ts,
    shift: row.shift,
    isAmbiguous: row.is_ambiguous,
    correctedTo: row.corrected_to,
    isCopied: row.is_copied,
    isReady: row.is_ready,
  }));
}

/**
 * Records whether it is unclear which events of a correction have wrong times, before any replica is changed. Then
 * every replica keeps them.
 *
 * @returns what was recorded first
 */
export async function recordAmbiguity(pool: Pool, id: number, isAmbiguous: boolean): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ found: boolean }>(
      `UPDATE clock_corrections SET is_ambiguous = coalesce(is_ambiguous, $2) WHERE id = $1
       RETURNING is_ambiguous AS found`,
      [id, isAmbiguous],
    );
    const found = rows[0]?.found ?? isAmbiguous;
    if (found) await tx.query('DELETE FROM replica_corrections WHERE correction_id = $1', [id]);
    return found;
  });
}

/** Records that the next slice has its corrected copies in a replica. */
export async function markCopied(db: Queryable, replica: string, id: number): Promise<void> {
  await db.query(
    'UPDATE replica_corrections SET is_copied = true WHERE replica = $1 AND correction_id = $2',
    [replica, id],
  );
}

/** Records that every event before `to` (microseconds) is corrected in a replica. */
export async function markCorrected(db: Queryable, replica: string, id: number, to: number): Promise<void> {
  await db.query(
    `UPDATE replica_corrections SET corrected_to = $3, is_copied = false
     WHERE replica = $1 AND correction_id = $2`,
    [replica, id, to],
  );
}

/** Records that a replica has a correction. Those that lack it are not read from now on, until they have it. */
export async function finishCorrection(pool: Pool, replica: string, id: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    // Two replicas that finish at once must know of each other.
    await tx.query('SELECT FROM clock_corrections WHERE id = $1 FOR UPDATE', [id]);
    await tx.query('DELETE FROM replica_corrections WHERE replica = $1 AND correction_id = $2', [
      replica,
      id,
    ]);
    await tx.query(
      `DELETE FROM replica_repairs WHERE replica = $1 AND work = 'clock_corrections' AND subject = $2`,
      [replica, String(id)],
    );
    await tx.query(
      `INSERT INTO replica_repairs (replica, work, subject)
       SELECT replica, 'clock_corrections', correction_id FROM replica_corrections WHERE correction_id = $1
       ON CONFLICT DO NOTHING`,
      [id],
    );
  });
}

/** Requests that the writers of active streams set their times back. Returns the number of streams. */
export async function requestClockReset(db: Queryable, streamIds: readonly string[]): Promise<number> {
  const { rowCount } = await db.query(
    `UPDATE ingest_streams SET clock_reset_requested_at = clock_timestamp()
     WHERE stream_id = ANY ($1) AND state = 'active'`,
    [streamIds],
  );
  return rowCount ?? 0;
}

/** Returns whether an operator requested that the stream's time be set back. */
export async function isClockResetRequested(db: Queryable, streamId: string): Promise<boolean> {
  const { rows } = await db.query(
    'SELECT FROM ingest_streams WHERE stream_id = $1 AND clock_reset_requested_at IS NOT NULL',
    [streamId],
  );
  return rows.length === 1;
}

/** Watermarks that were returned while a stream was set back may be a little past its last event. Microseconds. */
const PAST_LAST_MICROS = 60_000_000;

/**
 * Returns by how many microseconds to move back a cursor that was returned while the clock was ahead; 0 when no clock
 * was.
 * Returns the longest shift: a reader may get some events again, and misses none.
 *
 * @param micros a time in the future
 */
export async function clockShiftAt(db: Queryable, micros: bigint): Promise<number> {
  const { rows } = await db.query<{ shift: number | null }>(
    'SELECT max(shift) AS shift FROM clock_corrections WHERE $1 >= from_ts AND $1 <= to_ts + $2',
    [String(micros), PAST_LAST_MICROS],
  );
  return rows[0]?.shift ?? 0;
}
