import type { ClickHouseServer } from '../clickhouse/server.ts';
import { Violation } from '../history.ts';
import type { Database } from '../postgres/database.ts';

export const COUNTED = 'what PostgreSQL has counted for a stream and an hour is what ClickHouse has';

const HOUR_MICROS = 3_600_000_000;

/** Checks {@link COUNTED} once the log is read. Hours in which the log has a gap are not compared. */
export function checkCounts(database: Database, { clicks }: ClickHouseServer): void {
  const stored = new Map<string, { clicks: number; sequences: number }>();
  for (const { ordinal, sequence, ts } of clicks.values()) {
    const key = `${ordinal} ${Math.floor(ts / HOUR_MICROS)}`;
    const known = stored.get(key) ?? { clicks: 0, sequences: 0 };
    stored.set(key, {
      clicks: known.clicks + 1,
      sequences: known.sequences + Number(sequence & 0xffff_ffffn),
    });
  }
  const counted = database.rows('counted_clicks');
  for (const key of new Set([...stored.keys(), ...counted.keys()])) {
    const row = counted.get(key) ?? { clicks: 0, sequences: 0, has_gap: false };
    const { clicks: found, sequences } = stored.get(key) ?? { clicks: 0, sequences: 0 };
    if (row.has_gap === true || (Number(row.clicks) === found && Number(row.sequences) === sequences))
      continue;
    throw new Violation(
      COUNTED,
      `stream and hour ${key}: ${row.clicks} are counted, and ${found} are stored`,
    );
  }
}
