import type { Queryable } from '../database/pool.ts';

/** Clicks of a stream and an hour that the log had for ClickHouse. */
export type CountedHour = {
  ordinal: number;
  /** Hours since the epoch, of the clicks' times. */
  hour: number;
  clicks: number;
  /** Sum of the low 32 bits of their sequences. */
  sequences: number;
  /** The log lacks events of about this time. */
  hasGap: boolean;
};

/**
 * SQL that adds counts. Its five parameters are those of {@link columnsOfCounts}.
 *
 * @param first number of the first parameter
 * @param condition a condition on all of them
 */
export function countClicks(first: number, condition = 'true'): string {
  const at = (nth: number) => `$${first + nth}`;
  return `INSERT INTO counted_clicks AS counted (ordinal, hour, clicks, sequences, has_gap)
    SELECT added.ordinal, added.hour, added.clicks, added.sequences, added.has_gap
    FROM unnest(${at(0)}::smallint[], ${at(1)}::int[], ${at(2)}::bigint[], ${at(3)}::bigint[], ${at(4)}::boolean[])
      AS added (ordinal, hour, clicks, sequences, has_gap)
    WHERE ${condition}
    ON CONFLICT (ordinal, hour) DO UPDATE SET clicks = counted.clicks + excluded.clicks,
      sequences = counted.sequences + excluded.sequences, has_gap = counted.has_gap OR excluded.has_gap`;
}

export const columnsOfCounts = (counted: readonly CountedHour[]) => [
  counted.map(({ ordinal }) => ordinal),
  counted.map(({ hour }) => hour),
  counted.map(({ clicks }) => clicks),
  counted.map(({ sequences }) => sequences),
  counted.map(({ hasGap }) => hasGap),
];

/** Adds counts. Call it in the transaction that makes the clicks final. */
export async function storeCounts(transaction: Queryable, counted: readonly CountedHour[]): Promise<void> {
  if (counted.length === 0) return;
  await transaction.query(countClicks(1), columnsOfCounts(counted));
}

/** Microseconds of an hour. */
export const HOUR_MICROS = 3_600_000_000;
/** Hours before now whose counts are kept: longer than they are compared. */
const KEPT_HOURS = 60 * 24;

/** What the log had for a replica, at one moment. */
export type ComparisonPoint = {
  /** The sequence after the high-water mark of each stream, by ordinal. */
  next: Map<number, bigint>;
  /** Counts by stream and hour, those excluded that can't be compared. */
  counted: { ordinal: number; hour: number; clicks: number; sequences: bigint }[];
  /** Whether a stream and an hour can't be compared. */
  isExcluded(ordinal: number, hour: number): boolean;
};

/**
 * Returns the counts of a range of hours, the last one included. Excluded are hours in which the log has a gap, hours
 * whose events got other times after their clock was corrected, and hours that a replica does not have whole yet.
 *
 * @param range.to null: all later ones
 */
export async function comparisonPoint(
  db: Queryable,
  replica: string,
  { from, to }: { from: number; to: number | null },
): Promise<ComparisonPoint> {
  // One statement: counts and marks are of the same moment.
  const { rows } = await db.query<{
    streams: { ordinal: number; next: string; behind: number | null }[];
    counted: { ordinal: number; hour: number; clicks: number; sequences: string; has_gap: boolean }[];
    corrections: { ordinal: number; from: number; to: number }[];
  }>(
    `SELECT
       (SELECT coalesce(json_agg(json_build_object('ordinal', stream.ordinal,
          'next', (coalesce(own.high_water, stream.high_water) + 1)::text, 'behind', own.visible_before)), '[]')
        FROM ingest_streams AS stream LEFT JOIN LATERAL (
          SELECT min(high_water) AS high_water, min(visible_before) AS visible_before FROM replica_streams AS late
          WHERE late.stream_id = stream.stream_id AND late.replica = $1) AS own ON true
        WHERE stream.ordinal IS NOT NULL) AS streams,
       (SELECT coalesce(json_agg(json_build_object('ordinal', ordinal, 'hour', hour, 'clicks', clicks,
          'sequences', sequences::text, 'has_gap', has_gap)), '[]')
        FROM counted_clicks WHERE hour >= $2 AND ($3::int IS NULL OR hour <= $3)) AS counted,
       (SELECT coalesce(json_agg(json_build_object('ordinal', ordinal,
          'from', (from_ts - shift) / ${HOUR_MICROS}, 'to', to_ts / ${HOUR_MICROS})), '[]')
        FROM clock_corrections WHERE to_ts / ${HOUR_MICROS} >= $2) AS corrections`,
    [replica, from, to],
  );
  const { streams = [], counted = [], corrections = [] } = rows[0] ?? {};
  const gaps = new Set(counted.filter((row) => row.has_gap).map(({ ordinal, hour }) => `${ordinal}/${hour}`));
  const behind = new Map(streams.map((stream) => [stream.ordinal, stream.behind]));

  function isExcluded(ordinal: number, hour: number): boolean {
    const before = behind.get(ordinal) ?? null;
    return (
      gaps.has(`${ordinal}/${hour}`) ||
      (before !== null && (hour + 1) * HOUR_MICROS > before) ||
      corrections.some((moved) => moved.ordinal === ordinal && hour >= moved.from && hour <= moved.to)
    );
  }

  return {
    next: new Map(streams.map(({ ordinal, next }) => [ordinal, BigInt(next)])),
    counted: counted
      .filter(({ ordinal, hour }) => !isExcluded(ordinal, hour))
      .map(({ ordinal, hour, clicks, sequences }) => ({
        ordinal,
        hour,
        clicks,
        sequences: BigInt(sequences),
      })),
    isExcluded,
  };
}

/** Deletes counts that are no longer compared. @param hour the present one */
export async function pruneCounts(db: Queryable, hour: number): Promise<void> {
  await db.query('DELETE FROM counted_clicks WHERE hour < $1', [hour - KEPT_HOURS]);
}
