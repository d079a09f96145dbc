import type { Queryable } from '../database/pool.ts';
import type { DeadLetter } from '../event-log/dead-letters.ts';
import { missedParameters, recordsMissed, type StoredWrite } from '../event-log/replica-repairs.ts';
import { watermark } from '../event-log/streams.ts';

/** A report that waits until every stream has passed it, with its bytes and its place in the event log. */
export type WaitingReport = Omit<DeadLetter, 'reason'> & {
  streamId: string;
  sequence: bigint;
  /** Ordinal of the stream. */
  ordinal: number;
  /** Microseconds. */
  ts: number;
};

/** `isPassed`: every stream has passed it, so that all clicks before it are visible. */
export type ClaimedReport = WaitingReport & { internalId: number; isPassed: boolean };

/** Maximum wait for a stream without progress: an order must not be missing. */
const LONGEST_WAIT = "interval '1 minute'";

/** Stores reports that wait. One that waits already stays as it is. */
export async function addWaitingReports(
  transaction: Queryable,
  reports: readonly WaitingReport[],
): Promise<void> {
  if (reports.length === 0) return;
  await transaction.query(
    `INSERT INTO waiting_reports (ts, stream_ordinal, partition, log_offset, stream_id, sequence, payload)
     SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::numeric[], $5::uuid[], $6::numeric[], $7::bytea[])
     ON CONFLICT DO NOTHING`,
    [
      reports.map(({ ts }) => ts),
      reports.map(({ ordinal }) => ordinal),
      reports.map(({ partition }) => partition),
      reports.map(({ logOffset }) => String(logOffset)),
      reports.map(({ streamId }) => streamId),
      reports.map(({ sequence }) => String(sequence)),
      reports.map(({ payload }) => Buffer.from(payload)),
    ],
  );
}

/**
 * Claims reports that have waited long enough, oldest first, until the transaction ends. Skips other workers' claims.
 *
 * @param before microseconds: the watermark
 */
export async function claimWaitingReports(
  transaction: Queryable,
  before: number,
  limit: number,
): Promise<ClaimedReport[]> {
  const { rows } = await transaction.query<{
    internal_id: number;
    is_passed: boolean;
    ts: number;
    stream_ordinal: number;
    partition: string;
    log_offset: string;
    stream_id: string;
    sequence: string;
    payload: Buffer;
  }>(
    `SELECT internal_id, ts < $1 AS is_passed, ts, stream_ordinal, partition, log_offset, stream_id, sequence, payload
     FROM waiting_reports WHERE ts < $1 OR created_at < now() - ${LONGEST_WAIT} ORDER BY ts, internal_id LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [before, limit],
  );
  return rows.map((row) => ({
    internalId: row.internal_id,
    isPassed: row.is_passed,
    ts: row.ts,
    ordinal: row.stream_ordinal,
    partition: row.partition,
    logOffset: BigInt(row.log_offset),
    streamId: row.stream_id,
    sequence: BigInt(row.sequence),
    payload: row.payload,
  }));
}

/** Removes claimed reports, which are stored. */
export async function removeWaitingReports(
  transaction: Queryable,
  reports: readonly ClaimedReport[],
  write: StoredWrite,
): Promise<void> {
  await transaction.query(
    `WITH ${recordsMissed(2)} DELETE FROM waiting_reports WHERE internal_id = ANY ($1::bigint[])`,
    [reports.map(({ internalId }) => internalId), ...missedParameters(write)],
  );
}

/**
 * Returns the time before which every click is visible and every report is stored: the watermark, or the oldest report
 * that waits. Microseconds; null: no stream is known.
 */
export async function reportsStoredBefore(db: Queryable): Promise<number | null> {
  // Read first, so that reports that wait from before it are in the table.
  const mark = await watermark(db);
  if (mark === null) return null;
  const { rows } = await db.query<{ oldest: number | null }>('SELECT min(ts) AS oldest FROM waiting_reports');
  return Math.min(mark, rows[0]?.oldest ?? mark);
}
