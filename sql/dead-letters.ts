import type { Queryable } from './pool.ts';

/** What could not be taken in, with all that a replay needs. */
export type DeadLetter = {
  partition: string;
  logOffset: bigint;
  streamId: string | null;
  sequence: bigint | null;
  /** A short code, then optionally `: ` and details. */
  reason: string;
  /** The encoded event, or the damaged piece of the log. */
  payload: Uint8Array;
};

export type StoredDeadLetter = DeadLetter & { id: number; createdAt: Date; replayedAt: Date | null };

/** A letter's payload is kept up to this size, in bytes: a damaged log can be one huge piece. */
const PAYLOAD_LIMIT = 1_048_576;

/** Keeps dead letters. One that is there already stays as it is: a batch may be replayed. */
export async function addDeadLetters(db: Queryable, letters: readonly DeadLetter[]): Promise<void> {
  for (const letter of letters) {
    await db.query(
      `INSERT INTO dead_letters (partition, log_offset, stream_id, sequence, reason, payload)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
      [
        letter.partition,
        String(letter.logOffset),
        letter.streamId,
        letter.sequence === null ? null : String(letter.sequence),
        letter.reason.replaceAll('\0', '').slice(0, 500),
        Buffer.from(letter.payload.subarray(0, PAYLOAD_LIMIT)),
      ],
    );
  }
}

/** Dead letters not replayed yet, oldest first, with ids above `after`. */
export function unreplayedDeadLetters(db: Queryable, limit: number, after = 0): Promise<StoredDeadLetter[]> {
  return read(db, 'replayed_at IS NULL AND id > $2 ORDER BY id LIMIT $1', [limit, after]);
}

/** Dead letters of which no copy was published, oldest first, locked: whoever publishes too passes them over. */
export function unpublishedDeadLetters(transaction: Queryable, limit: number): Promise<StoredDeadLetter[]> {
  return read(transaction, 'published_at IS NULL ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED', [limit]);
}

/** Marks letters as published. In the transaction that has read them. */
export async function markPublished(transaction: Queryable, ids: readonly number[]): Promise<void> {
  await transaction.query('UPDATE dead_letters SET published_at = now() WHERE id = ANY ($1)', [ids]);
}

async function read(db: Queryable, where: string, values: unknown[]): Promise<StoredDeadLetter[]> {
  const { rows } = await db.query<{
    id: number;
    partition: string;
    log_offset: string;
    stream_id: string | null;
    sequence: string | null;
    reason: string;
    payload: Buffer;
    created_at: Date;
    replayed_at: Date | null;
  }>(
    `SELECT id, partition, log_offset, stream_id, sequence, reason, payload, created_at, replayed_at
     FROM dead_letters WHERE ${where}`,
    values,
  );
  return rows.map((row) => ({
    id: row.id,
    partition: row.partition,
    logOffset: BigInt(row.log_offset),
    streamId: row.stream_id,
    sequence: row.sequence === null ? null : BigInt(row.sequence),
    reason: row.reason,
    payload: row.payload,
    createdAt: row.created_at,
    replayedAt: row.replayed_at,
  }));
}

/** Marks a letter as taken in. @returns false when it had been already */
export async function markReplayed(transaction: Queryable, id: number): Promise<boolean> {
  const { rowCount } = await transaction.query(
    'UPDATE dead_letters SET replayed_at = now() WHERE id = $1 AND replayed_at IS NULL',
    [id],
  );
  return rowCount === 1;
}
