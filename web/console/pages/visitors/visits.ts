import type { ResponseOf } from '../../api/responses.ts';

/** A step of a journey, with the details of its clicks. */
export type Entry = ResponseOf<'/visitors/{id}/journey'>['journey'][number];
export type ClickEntry = Extract<Entry, { type: 'click' }>;

/** Clicks that follow each other within half an hour and a day, or one other step. */
export type Item =
  | { type: 'visit'; key: string; clicks: [ClickEntry, ...ClickEntry[]] }
  | { type: 'identify' | 'order'; key: string; entry: Exclude<Entry, ClickEntry> };

/** A day of the viewer's time zone and what happened on it, oldest first. */
export type Day = { key: string; ts: string; items: Item[] };

/** As analytics tools count sessions: a pause of half an hour ends one. Milliseconds. */
const PAUSE = 30 * 60_000;

/** Groups a journey, oldest first, by days and visits. */
export function daysOf(entries: readonly Entry[]): Day[] {
  const days: Day[] = [];
  for (const [index, entry] of entries.entries()) {
    const at = new Date(entry.ts);
    const dayKey = at.toDateString();
    let day = days.at(-1);
    if (day?.key !== dayKey) {
      day = { key: dayKey, ts: entry.ts, items: [] };
      days.push(day);
    }
    const key = `${entry.ts} ${index}`;
    if (entry.type !== 'click') {
      day.items.push({ type: entry.type, key, entry });
      continue;
    }
    const last = day.items.at(-1);
    const before = last?.type === 'visit' ? last.clicks.at(-1) : undefined;
    if (last?.type === 'visit' && before && at.getTime() - Date.parse(before.ts) <= PAUSE) {
      last.clicks.push(entry);
    } else {
      day.items.push({ type: 'visit', key, clicks: [entry] });
    }
  }
  return days;
}

/** The first click, and the last one before the newest order (or of all without an order). */
export function touchesOf(entries: readonly Entry[]): { first: ClickEntry | null; last: ClickEntry | null } {
  const isClick = (entry: Entry): entry is ClickEntry => entry.type === 'click';
  const order = entries.findLastIndex(({ type }) => type === 'order');
  return {
    first: entries.find(isClick) ?? null,
    last: entries.slice(0, order < 0 ? undefined : order).findLast(isClick) ?? null,
  };
}
