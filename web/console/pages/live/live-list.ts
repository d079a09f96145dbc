import type { Click } from '../../api/click.ts';

/** Rows of the table. Older ones fall out. */
export const MOST_ROWS = 200;
/** The span of "per minute". Milliseconds. */
const MINUTE = 60_000;

/** What the page shows of the stream. */
export type LiveList = {
  /** Newest first. */
  rows: readonly Click[];
  /** Clicks that came while the list stood still, newest first; no more of them than rows. */
  held: readonly Click[];
  /** How many came in all while it stood still. */
  heldCount: number;
  /** Clicks of the last minute: their ids and times, milliseconds. */
  lastMinute: ReadonlyMap<string, number>;
};

export const EMPTY_LIST: LiveList = { rows: [], held: [], heldCount: 0, lastMinute: new Map() };

/**
 * Adds clicks; known ones are dropped. They come in no order: several processes take clicks in.
 *
 * @param isPaused whether the rows stand still
 * @param now milliseconds
 */
export function addClicks(
  list: LiveList,
  clicks: readonly Click[],
  isPaused: boolean,
  now: number,
): LiveList {
  const known = new Set([...list.rows, ...list.held].map(({ id }) => id));
  const fresh = clicks.filter(({ id }) => !known.has(id) && !list.lastMinute.has(id));
  const lastMinute = new Map([...list.lastMinute].filter(([, time]) => time > now - MINUTE));
  for (const { id, ts } of fresh) {
    const time = Math.min(now, Date.parse(ts));
    if (time > now - MINUTE) lastMinute.set(id, time);
  }
  if (!isPaused) return { ...list, rows: newest(fresh, list.rows), lastMinute };
  const heldCount = list.heldCount + fresh.length;
  return { rows: list.rows, held: newest(fresh, list.held), heldCount, lastMinute };
}

/** Shows what was held. */
export function release({ rows, held, lastMinute }: LiveList): LiveList {
  return { rows: newest(held, rows), held: [], heldCount: 0, lastMinute };
}

/** How many clicks the last minute had. @param now milliseconds */
export function perMinute({ lastMinute }: LiveList, now: number): number {
  return [...lastMinute.values()].filter((time) => time > now - MINUTE).length;
}

/** The newest of both, newest first. Times are texts of one form. */
function newest(some: readonly Click[], others: readonly Click[]): Click[] {
  return [...some, ...others].sort((a, b) => (a.ts < b.ts ? 1 : -1)).slice(0, MOST_ROWS);
}
