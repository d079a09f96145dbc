import { storableText } from '../../core/text/storable.ts';
import type { Queryable } from '../database/pool.ts';
import { missedParameters, recordsMissed, type StoredWrite } from './replica-repairs.ts';

/** An event that could not be decoded or stored, with the data for a replay. */
export type DeadLetter = {
  partition: string;
  logOffset: bigint;
  streamId: string | null;
  sequence: bigint | null;
  /** A short code, then optionally `: ` and details. */
  reason: string;
  /** The encoded event, or the damaged piece of the log. A replayed letter has as many empty events instead. */
  payload: Uint8Array;
};

export type StoredDeadLetter = DeadLetter & { id: number; createdAt: Date; replayedAt: Date | null };

/** Longest stored payload, in bytes: a damaged log can be one huge piece. */
const PAYLOAD_LIMIT = 1_048_576;

/** Inserts dead letters. An existing one stays as it is: a batch may be replayed. */
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
        storableText(letter.reason).slice(0, 500),
        Buffer.from(letter.payload.subarray(0, PAYLOAD_LIMIT)),
      ],
    );
  }
}

/** Returns dead letters not replayed yet, oldest first, with ids above `after`. */
export async function unreplayedDeadLetters(
  db: Queryable,
  limit: number,
  after = 0,
): Promise<StoredDeadLetter[]> {
  const { rows } = await db.query<DeadLetterRow>(
    `SELECT ${COLUMNS} FROM dead_letters WHERE replayed_at IS NULL AND id > $2 ORDER BY id LIMIT $1`,
    [limit, after],
  );
  return rows.map(toLetter);
}

/** Smallest encoded event, in bytes: its length prefix and one byte. */
const LEAST_EVENT_BYTES = 5;

/**
 * Returns the letters of a stream that may hold events from `first` to `last`, locked until the transaction ends:
 * their replay state can't change meanwhile.
 */
export async function lockLettersBetween(
  transaction: Queryable,
  given: { streamId: string; first: bigint; last: bigint },
): Promise<StoredDeadLetter[]> {
  const { streamId, first, last } = given;
  const { rows } = await transaction.query<DeadLetterRow>(
    `SELECT ${COLUMNS} FROM dead_letters
     WHERE stream_id = $1 AND sequence BETWEEN $2::numeric - $4 AND $3::numeric
       AND sequence + octet_length(payload) / $5::int >= $2::numeric
     ORDER BY id FOR UPDATE`,
    [streamId, String(first), String(last), Math.ceil(PAYLOAD_LIMIT / LEAST_EVENT_BYTES), LEAST_EVENT_BYTES],
  );
  return rows.map(toLetter);
}

/** Returns how many dead letters are not replayed yet. */
export async function countUnreplayed(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ found: number }>(
    'SELECT count(*) AS found FROM dead_letters WHERE replayed_at IS NULL',
  );
  return rows[0]?.found ?? 0;
}

// A replayed letter has no content left to publish.
const UNPUBLISHED = `published_at IS NULL AND replayed_at IS NULL AND (publish_after IS NULL OR publish_after <= now()
    OR publish_after > now() + interval '2 hours')`; // a longer wait was set while the clock was ahead

/** Returns whether {@link claimUnpublished} would return a letter. */
export async function hasUnpublished(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM dead_letters WHERE ${UNPUBLISHED} LIMIT 1`);
  return rowCount === 1;
}

/**
 * Claims the oldest dead letter without a published copy, or returns null. A claim lasts 2 minutes, then twice as
 * long each time, at most an hour.
 */
export async function claimUnpublished(db: Queryable): Promise<StoredDeadLetter | null> {
  const { rows } = await db.query<DeadLetterRow>(
    `UPDATE dead_letters SET publish_attempts = least(publish_attempts, 1000) + 1,
       publish_after = now() + least(interval '2 minutes' * 2 ^ least(publish_attempts, 10), interval '1 hour')
     WHERE id = (SELECT id FROM dead_letters WHERE ${UNPUBLISHED} ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
  );
  return rows[0] ? toLetter(rows[0]) : null;
}

/** Marks a letter as published. */
export async function markPublished(db: Queryable, id: number): Promise<void> {
  await db.query('UPDATE dead_letters SET published_at = now() WHERE id = $1', [id]);
}

const COLUMNS = 'id, partition, log_offset, stream_id, sequence, reason, payload, created_at, replayed_at';

type DeadLetterRow = {
  id: number;
  partition: string;
  log_offset: string;
  stream_id: string | null;
  sequence: string | null;
  reason: string;
  payload: Buffer;
  created_at: Date;
  replayed_at: Date | null;
};

function toLetter(row: DeadLetterRow): StoredDeadLetter {
  return {
    id: row.id,
    partition: row.partition,
    logOffset: BigInt(row.log_offset),
    streamId: row.stream_id,
    sequence: row.sequence === null ? null : BigInt(row.sequence),
    reason: row.reason,
    payload: row.payload,
    createdAt: row.created_at,
    replayedAt: row.replayed_at,
  };
}

/**
 * Marks a letter as replayed, and keeps only the number of its events: erasures don't reach dead letters. Returns
 * false when it was replayed before.
 *
 * @param write the rows of its events, and the replicas that have them
 */
export async function markReplayed(transaction: Queryable, id: number, write: StoredWrite): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `WITH ${recordsMissed(2)}
     UPDATE dead_letters SET replayed_at = now(), payload = blank_events(payload) WHERE id = $1 AND replayed_at IS NULL`,
    [id, ...missedParameters(write)],
  );
  return rowCount === 1;
}
