import { COMPARED_MS } from '../../clickhouse/counts/removed-clicks.ts';
import { type CountedHour, HOUR_MICROS } from '../../sql/event-log/counted-clicks.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';
import type { Refused } from './insert.ts';
import type { Prepared } from './prepare.ts';

const LOW_32_BITS = 0xffff_ffffn;
/** Hours before a gap's end that it makes uncertain at most: older ones are not compared. */
const GAP_HOURS = (COMPARED_MS * 1_000) / HOUR_MICROS;

/**
 * Returns how many clicks of each stream and hour a range has for ClickHouse. Erased ones count, because an earlier
 * attempt may have stored them.
 *
 * @param refused rows that ClickHouse refuses
 */
export function countedClicks(
  { clicks, erased, gaps }: Pick<Prepared, 'clicks' | 'erased' | 'gaps'>,
  refused: readonly Pick<Refused, 'row'>[],
): CountedHour[] {
  const hours = new Map<number, CountedHour>();
  const gone = new Set<unknown>(refused.map(({ row }) => row));

  function at(ordinal: number, hour: number): CountedHour {
    const key = hour * 1_000 + ordinal;
    const known = hours.get(key) ?? { ordinal, hour, clicks: 0, sequences: 0, hasGap: false };
    hours.set(key, known);
    return known;
  }

  for (const rows of [clicks, erased]) {
    let current: CountedHour | null = null;
    for (const row of rows) {
      if (gone.size > 0 && gone.has(row)) continue;
      const { ordinal, sequence } = row;
      const hour = Math.floor(row.event.ts / HOUR_MICROS);
      if (current === null || current.hour !== hour || current.ordinal !== ordinal) {
        current = at(ordinal, hour);
      }
      current.clicks += 1;
      current.sequences += Number(sequence & LOW_32_BITS);
    }
  }
  for (const { ordinal, fromTs, toTs } of gaps) {
    for (const hour of hoursOfGap(fromTs, toTs)) at(ordinal, hour).hasGap = true;
  }
  return [...hours.values()];
}

/**
 * Returns the hours after which the log has lost events that ClickHouse may have: from the newest visible event of each
 * active stream on.
 *
 * @param now milliseconds since the epoch
 */
export function uncertainHours(
  streams: readonly Pick<StreamProgress, 'ordinal' | 'visibleBefore' | 'isRetired'>[],
  now: number,
): CountedHour[] {
  return streams
    .filter(({ isRetired }) => !isRetired)
    .flatMap(({ ordinal, visibleBefore }) =>
      hoursOfGap(visibleBefore, Math.max(now * 1_000, visibleBefore)).map((hour) => ({
        ordinal,
        hour,
        clicks: 0,
        sequences: 0,
        hasGap: true,
      })),
    );
}

function hoursOfGap(fromTs: number, toTs: number): number[] {
  const last = Math.floor(toTs / HOUR_MICROS);
  const first = Math.max(Math.floor(fromTs / HOUR_MICROS), last - GAP_HOURS);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
