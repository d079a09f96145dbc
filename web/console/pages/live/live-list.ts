import type { Click } from '../../api/click.ts';

/** Maximum rows; older ones are dropped. */
export const MOST_ROWS = 50;
/** Milliseconds. */
const MINUTE = 60_000;

/** State of the live list. */
export type LiveList = {
  /** Newest first. */
  rows: readonly Click[];
  /** Clicks received while paused, newest first; at most as many as rows. */
  held: readonly Click[];
  /** Number of clicks received while paused. */
  heldCount: number;
  /** Number of clicks received after the first ones: those that are news. */
  newCount: number;
  /** Whether the first clicks were received. */
  isBegun: boolean;
  /** Clicks of the last minute: time in milliseconds by ID. */
  lastMinute: ReadonlyMap<string, number>;
};

export const EMPTY_LIST: LiveList = {
  rows: [],
  held: [],
  heldCount: 0,
  newCount: 0,
  isBegun: false,
  lastMinute: new Map(),
};

/**
 * Adds the recent clicks that each connection begins with. The first ones are not new, and are shown in a paused list
 * too. After a break, only those after the newest click are new: the others were dropped from the rows.
 *
 * @param isPaused whether the rows are frozen
 * @param now milliseconds
 */
export function addRecent(
  list: LiveList,
  recent: readonly Click[],
  isPaused: boolean,
  now: number,
): LiveList {
  const { held, rows, heldCount, newCount } = list;
  if (!list.isBegun) return { ...addClicks(list, recent, false, now), newCount, isBegun: true };
  const known = [held[0], rows[0]].reduce((last, click) => (click && click.ts > last ? click.ts : last), '');
  const added = addClicks(list, recent, isPaused, now);
  const count = recent.filter(({ ts }) => ts > known).length;
  return { ...added, newCount: newCount + count, ...(isPaused && { heldCount: heldCount + count }) };
}

/**
 * Adds clicks in any order, because several processes ingest them; duplicates are dropped.
 *
 * @param isPaused whether the rows are frozen
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
  const newCount = list.newCount + fresh.length;
  if (!isPaused) return { ...list, rows: newest(fresh, list.rows), newCount, lastMinute };
  const heldCount = list.heldCount + fresh.length;
  return { ...list, held: newest(fresh, list.held), heldCount, newCount, lastMinute };
}

/** Shows the clicks received while paused. */
export function release(list: LiveList): LiveList {
  return { ...list, rows: newest(list.held, list.rows), held: [], heldCount: 0 };
}

/** The number of clicks in the last minute. @param now milliseconds */
export const perMinute = (list: LiveList, now: number) => countSince(list, now - MINUTE);

/** Clicks a second, over the last ten seconds. @param now milliseconds */
export const perSecond = (list: LiveList, now: number) => countSince(list, now - 10_000) / 10;

const countSince = ({ lastMinute }: LiveList, since: number) =>
  [...lastMinute.values()].filter((time) => time > since).length;

/** Merges two lists, newest first. Timestamps have one format and compare as strings. */
function newest(some: readonly Click[], others: readonly Click[]): Click[] {
  return [...some, ...others].sort((a, b) => (a.ts < b.ts ? 1 : -1)).slice(0, MOST_ROWS);
}
