import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { eachImportedKey } from '../../clickhouse/inserts/imported-keys.ts';
import { createKeyTable, type KeyTable } from '../../core/click-imports/key-table.ts';
import { growthOf, type RowKey } from '../../core/click-imports/row-key.ts';

/** The imported clicks of a month: their microseconds by key. */
type Month = {
  keys: KeyTable;
  /** What is stored of counts that grow, by the part of the key that all additions share; null: not asked for. */
  sums: KeyTable | null;
  /** The next addition to each. */
  additions: KeyTable | null;
  used: Set<number>;
  /** For each time that many rows share, the next microsecond to try. */
  next: Map<number, number>;
};

/**
 * Gives imported clicks their times. A time is unique in a workspace and identifies its click, but most sources have
 * only seconds. So a click gets the first free microsecond from its own time on, within its second.
 */
export type StoredTimes = {
  /** Loads the months of these times, in microseconds. */
  prepare(times: Iterable<number>): Promise<void>;
  /** Returns whether the click of this key is stored. Its month must be loaded. */
  has(ts: number, high: number, low: number): boolean;
  /** Returns what is stored of a count that grows, and the number of the next addition. Its month must be loaded. */
  grown(ts: number, key: RowKey): { sum: number; next: number };
  /** Adds to it. */
  grow(ts: number, key: RowKey, by: number): void;
  /** Takes a time for a click, in microseconds; null: its second is full. */
  take(ts: number, high: number, low: number): number | null;
};

const MICROS_PER_SECOND = 1_000_000;
/** Number of clicks in loaded months above which the least recently used months are dropped. */
const REMEMBERED = 3_000_000;

/**
 * @param read returns a client of ClickHouse whose server has every imported click
 * @param grows whether the rows of the source are counts that grow
 */
export function createStoredTimes(
  read: () => Promise<ClickHouseClient>,
  workspaceId: string,
  grows: boolean,
): StoredTimes {
  /** Months by their start, the most recently used one last. */
  const months = new Map<number, Month>();

  async function load(start: number): Promise<void> {
    const month: Month = {
      keys: createKeyTable(),
      sums: grows ? createKeyTable() : null,
      additions: grows ? createKeyTable() : null,
      used: new Set(),
      next: new Map(),
    };
    await eachImportedKey(
      await read(),
      workspaceId,
      { from: start, to: monthAfter(start) },
      ({ high, low, ts, count }) => {
        month.keys.set(high, low, ts);
        add(month, growthOf(high), low, count);
        month.used.add(ts);
      },
    );
    months.set(start, month);
  }

  function dropOld(wanted: ReadonlySet<number>): void {
    let size = 0;
    for (const { used } of months.values()) size += used.size;
    for (const [start, { used }] of months) {
      if (size <= REMEMBERED) return;
      if (wanted.has(start)) continue;
      months.delete(start);
      size -= used.size;
    }
  }

  function add(
    { sums, additions }: Month,
    growth: ReturnType<typeof growthOf>,
    low: number,
    by: number,
  ): void {
    const { high, nth } = growth;
    sums?.set(high, low, (sums.get(high, low) ?? 0) + by);
    additions?.set(high, low, Math.max(additions.get(high, low) ?? 0, nth + 1));
  }

  function monthOf(ts: number): Month {
    const month = months.get(monthStart(ts));
    if (!month) throw new Error(`the month of ${ts} was not loaded`);
    return month;
  }

  return {
    async prepare(times) {
      const wanted = new Set<number>();
      for (const ts of times) wanted.add(monthStart(ts));
      dropOld(wanted);
      for (const start of wanted) {
        const known = months.get(start);
        months.delete(start);
        if (known) months.set(start, known);
        else await load(start);
      }
    },
    has: (ts, high, low) => monthOf(ts).keys.get(high, low) !== undefined,
    grown(ts, { high: whole, low }) {
      const { sums, additions } = monthOf(ts);
      const { high } = growthOf(whole);
      return { sum: sums?.get(high, low) ?? 0, next: additions?.get(high, low) ?? 0 };
    },
    grow: (ts, { high, low }, by) => add(monthOf(ts), growthOf(high), low, by),
    take(ts, high, low) {
      const { keys, used, next } = monthOf(ts);
      const second = ts - (ts % MICROS_PER_SECOND);
      const end = second + MICROS_PER_SECOND;
      let free = next.get(ts) ?? ts;
      for (let tried = 0; used.has(free); tried++) {
        if (tried === MICROS_PER_SECOND) return null;
        free = free + 1 === end ? second : free + 1;
      }
      if (free !== ts) next.set(ts, free);
      used.add(free);
      keys.set(high, low, free);
      return free;
    },
  };
}

/** The last month that was looked up: rows are mostly in order. */
let last = { from: 0, to: 0 };

/** Returns the start of the month (UTC) of a time after 1970, in microseconds. */
export function monthStart(ts: number): number {
  if (ts >= last.from && ts < last.to) return last.from;
  const date = new Date(ts / 1_000);
  const from = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) * 1_000;
  last = { from, to: monthAfter(from) };
  return from;
}

function monthAfter(start: number): number {
  const date = new Date(start / 1_000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) * 1_000;
}
