import type { MissingRange, StreamNeeds } from '../../core/event-log/port.ts';
import type { Queryable } from '../database/pool.ts';

/** Content of `ingest_streams.missing`. */
export type MissingRecord = [from: string, to: string][];

/** Returns the ranges whose end is beyond `unsendable`. */
export function rangesAbove(record: MissingRecord, unsendable: bigint): MissingRange[] {
  return record
    .map(([from, to]) => ({ from: BigInt(from), to: BigInt(to) }))
    .filter(({ to }) => to > unsendable);
}

/** Returns the ranges as the column has them. */
export function toMissingRecord(missing: readonly MissingRange[]): MissingRecord {
  return missing.map(({ from, to }) => [String(from), String(to)]);
}

/** Returns what workers have stored of a stream, and what its process is to send again. */
export async function streamNeeds(db: Queryable, streamId: string): Promise<StreamNeeds> {
  const { rows } = await db.query<{
    high_water: string;
    missing: MissingRecord;
    unsendable: string;
    reached: Record<string, string> | null;
  }>({
    name: 'stream_needs',
    text: `SELECT high_water, missing, unsendable,
         (SELECT jsonb_object_agg(partition, next_offset::text) FROM log_lanes WHERE consumer = 'store') AS reached
       FROM ingest_streams WHERE stream_id = $1`,
    values: [streamId],
  });
  const [row] = rows;
  if (!row) return { stored: -1n, missing: [], reached: new Map() };
  const reached = Object.entries(row.reached ?? {}).map(([name, offset]) => [name, BigInt(offset)] as const);
  return {
    stored: BigInt(row.high_water),
    missing: rangesAbove(row.missing, BigInt(row.unsendable)),
    reached: new Map(reached),
  };
}

/** Records that a stream's process can't send its missing events up to a sequence again. */
export async function markUnsendable(db: Queryable, streamId: string, sequence: bigint): Promise<void> {
  await db.query('UPDATE ingest_streams SET unsendable = greatest(unsendable, $2) WHERE stream_id = $1', [
    streamId,
    String(sequence),
  ]);
}
