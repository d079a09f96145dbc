import type { Queryable } from '../database/pool.ts';
import { nextVersion } from '../orders/orders.ts';
import { queuePublications } from '../orders/publications.ts';

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

export type OpenCorrection = CorrectionReport & {
  id: number;
  /** Every event with a time before this is corrected. */
  correctedTo: number;
  /** The corrected copies of the next slice are inserted. */
  isCopied: boolean;
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
      `INSERT INTO clock_corrections (stream_id, ordinal, first, before, from_ts, to_ts, shift, corrected_to)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $5) ON CONFLICT (stream_id, before) DO NOTHING`,
      [streamId, ordinal, String(first), String(before), fromTs, toTs, shift],
    );
    await tx.query('UPDATE ingest_streams SET clock_reset_requested_at = NULL WHERE stream_id = $1', [
      streamId,
    ]);
    if (rowCount === 1) await correctRecords(tx, report);
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

type Row = {
  id: number;
  stream_id: string;
  ordinal: number;
  first: string;
  before: string;
  from_ts: number;
  to_ts: number;
  shift: number;
  corrected_to: number;
  is_copied: boolean;
};

/** Returns corrections that are not done, oldest first. */
export async function openCorrections(db: Queryable): Promise<OpenCorrection[]> {
  const { rows } = await db.query<Row>(
    `SELECT id, stream_id, ordinal, first, before, from_ts, to_ts, shift, corrected_to, is_copied
     FROM clock_corrections WHERE done_at IS NULL ORDER BY id`,
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
    correctedTo: row.corrected_to,
    isCopied: row.is_copied,
  }));
}

/** Records that the next slice has its corrected copies. */
export async function markCopied(db: Queryable, id: number): Promise<void> {
  await db.query('UPDATE clock_corrections SET is_copied = true WHERE id = $1', [id]);
}

/**
 * Records that every event before `to` (microseconds) is corrected. The correction is done once `to` is past its last
 * time.
 */
export async function markCorrected(db: Queryable, id: number, to: number): Promise<void> {
  await db.query(
    `UPDATE clock_corrections SET corrected_to = $2, is_copied = false,
       done_at = CASE WHEN $2 > to_ts THEN now() END WHERE id = $1`,
    [id, to],
  );
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
