import { nestedValues, objectIn } from '../nested-values.ts';
import { columnKey, isYes, RowProblem, type SourceRow, yesNo } from '../source-row.ts';
import {
  ARCHIVED,
  COUNTED,
  EXPIRED,
  EXPIRES,
  MAY_SAY_OFF,
  MENTIONED,
  MOST,
  type Names,
  OFF,
  ON,
  ONCE,
  REMAINING,
  STARTS,
  STATUS,
  TURNS_OFF,
  USED_UP,
  VISITS,
} from './state-names.ts';
import { statusMeaning } from './status.ts';
import { timeIn } from './times.ts';

/** Fields of a create that say whether and until when a link redirects, and the file's names of them. */
export type RowState = {
  body: Record<string, unknown>;
  /** `max_clicks`, less the visits that the row counts, also where the format reads it. */
  left: Record<string, unknown>;
  columnOf: Record<string, string>;
};

/** Objects whose own state is not the link's. */
const NOT_OF_LINK =
  /^(?:domains?|hostname|host|project|group|campaign|webhooks?|token|image|password|qr(?:code)?)$/;
/** Objects whose state is the link's: others have features that are on or off. */
const ABOUT_LINK =
  /^(?:meta|settings?|options?|config(?:uration)?|state|status|flags?|links?|linkdata|linkinfo|data|details|properties|attributes|info|moderation|lifecycle|availability|visibility|access|advanced|shorturl|shortlink|\d+)$/;

const NOTHING =
  /^(?:|null|\\n|none|never|undefined|unlimited|infinite|forever|∞|n\/a|-|0001-01-01(?:[T ]00:00:00.*)?|0000-00-00(?: 00:00:00)?)$/i;

/**
 * Returns what a row says on whether its link redirects, in any format. Fields of the row's own format come first.
 *
 * @throws {RowProblem} for a link that was off, used up, or whose rules the file does not hold: here it would redirect
 */
export function stateOf(row: SourceRow): RowState {
  refuseOff(row);
  const state: RowState = { body: {}, left: {}, columnOf: {} };
  const take = (field: string, found: Found | null, value: unknown) => {
    if (found === null) return;
    state.body[field] = value;
    state.columnOf[field] = found.name;
  };
  const expires = endOf(row);
  take('expires_at', expires, expires && timeIn(textOf(expires)));
  const starts = find(row, STARTS, isNo);
  take('starts_at', starts, starts && timeIn(textOf(starts)));
  const [most, remaining] = [onceIn(row) ?? find(row, MOST), find(row, REMAINING)];
  const left = leastOf(most && leftOf(row, most), remaining && remainingOf(row, remaining));
  take('max_clicks', most ?? (left === null ? null : remaining), left ?? (most && numberIn(most)));
  if (left !== null) state.left.max_clicks = left;
  const archived =
    columnsOf(row, ARCHIVED).find(({ value }) => !isNo(value)) ??
    statusesOf(row).find((one) => statusMeaning(textOf(one)) === 'archived') ??
    null;
  take('archived', archived, true);
  return state;
}

type Found = { name: string; value: unknown };

const textOf = ({ value }: Found) => (typeof value === 'string' ? value.trim() : String(value));

/** Returns the first column of such a name that has a value. */
function find(row: SourceRow, names: Names, isEmpty = isNothing): Found | null {
  return columnsOf(row, names, /^/).find(({ value }) => !isEmpty(value)) ?? null;
}

/** Returns the column that says that the link is for one visit. */
function onceIn(row: SourceRow): Found | null {
  const once = find(row, ONCE, isNo);
  return once && { ...once, value: 1 };
}

/** Returns the earliest end that the row names. */
function endOf(row: SourceRow): Found | null {
  const ends = columnsOf(row, EXPIRES, /^/).filter(({ value }) => !isNo(value));
  for (const end of ends) refuseSpan(end);
  const time = (end: Found) => Date.parse(timeIn(textOf(end))) || Number.NEGATIVE_INFINITY;
  return ends.toSorted((a, b) => time(a) - time(b))[0] ?? null;
}

/**
 * Returns the columns of such names: those of the row first, then those in its objects, by their own name or their
 * path, as in `meta.validUntil` and `expiration: { date }`.
 *
 * @param around the names of objects in which they may be
 */
function columnsOf(row: SourceRow, names: Names, around = ABOUT_LINK): Found[] {
  const nested = nestedValues(row.values).filter(({ path }) => path.length > 1);
  const inner = nested.filter(({ path }) => {
    if (NOT_OF_LINK.test(path[0] ?? '')) return false;
    const isInside = path.slice(0, -1).every((name) => around.test(name));
    return names.test(path.join('')) || (names.test(path.at(-1) ?? '') && isInside);
  });
  for (const { top, column } of inner) row.columns.readInside(top, column);
  const own = [...row.columns.keys()].flatMap((key) => (names.test(key) ? (row.columns.get(key) ?? []) : []));
  const [objects, plain] = [true, false].map((is) => own.filter(({ value }) => isObject(value) === is));
  /** Objects that have a value, but none with such a name. */
  const unread = (objects ?? []).filter(
    ({ name }) =>
      !inner.some(({ top }) => top === name) && nested.some(({ top, value }) => top === name && !isNo(value)),
  );
  return [...(plain ?? []), ...inner.map(({ column, value }) => ({ name: column, value })), ...unread];
}

function statusesOf(row: SourceRow): Found[] {
  const inside = nestedValues(row.values).filter(
    ({ path, value }) => path.length > 1 && STATUS.test(path[0] ?? '') && typeof value === 'string',
  );
  const own = [STATUS, MAY_SAY_OFF].flatMap((names) => columnsOf(row, names));
  return [...own, ...inside.map(({ column, value }) => ({ name: column, value }))];
}

const isObject = (value: unknown) => objectIn(value) !== null;

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return typeof value === 'string' && NOTHING.test(value.trim());
}

function isNo(value: unknown): boolean {
  return isNothing(value) || yesNo(value) === false;
}

const OFF_THERE =
  'the link is switched off there, and would redirect here: leave its row out, or clear this field';
const USED_UP_THERE = 'the link is used up there, and would redirect here: leave its row out';

const UNKNOWN_STATUS =
  'does not say in known words whether the link is live there: write `active` where it is, and leave the other rows out';

function refuseOff(row: SourceRow): void {
  const statuses = statusesOf(row);
  const meaning = (one: Found) => statusMeaning(textOf(one));
  const off =
    columnsOf(row, OFF).find(({ value }) => !isNo(value)) ??
    columnsOf(row, TURNS_OFF).find(({ value }) => !isNo(value)) ??
    columnsOf(row, ON).find(
      (one) => one.value === false || (!isNothing(one.value) && (isNo(one.value) || meaning(one) === 'off')),
    ) ??
    statuses.find((one) => meaning(one) === 'off');
  if (off) throw new RowProblem(off.name, OFF_THERE);
  const usedUp =
    columnsOf(row, USED_UP).find(({ value }) => !isNo(value)) ??
    statuses.find((one) => meaning(one) === 'used up');
  if (usedUp) throw new RowProblem(usedUp.name, USED_UP_THERE);
  const expired =
    columnsOf(row, EXPIRED).find(({ value }) => !isNo(value)) ??
    statuses.find((one) => meaning(one) === 'expired');
  if (expired && !hasEnded(row)) throw new RowProblem(expired.name, OFF_THERE);
  const waits = statuses.find((one) => meaning(one) === 'scheduled');
  if (waits && find(row, STARTS, isNo) === null) throw new RowProblem(waits.name, OFF_THERE);
  const unknown = columnsOf(row, STATUS).find(
    (one) => !isObject(one.value) && !isNothing(one.value) && meaning(one) === 'unknown',
  );
  if (unknown) throw new RowProblem(unknown.name, UNKNOWN_STATUS);
}

/** Returns whether the row has an end that is past: such a link is imported, and does not redirect. */
function hasEnded(row: SourceRow): boolean {
  const end = endOf(row);
  return end !== null && Date.parse(timeIn(textOf(end))) <= Date.now();
}

/** A time to live is an instant or a duration. A small number could be either, so it is refused. */
function refuseSpan(found: Found): void {
  if (!/(?:ttl|(?<!not)after)$/.test(columnKey(found.name)) || !/^\d{1,11}$/.test(textOf(found))) return;
  throw new RowProblem(
    found.name,
    'may be a time or a span of time: give the end as ISO 8601, or in milliseconds since 1970',
  );
}

/**
 * Refuses a row that says that its link has rules, of which its format has read none.
 *
 * @param body what the format has read
 * @throws {RowProblem}
 */
export function refuseMissingRules(row: SourceRow, body: Readonly<Record<string, unknown>>): void {
  const mentioned = columnsOf(row, MENTIONED).find(({ value }) => isYes(value));
  if (mentioned === undefined || body.rules !== undefined || body.targeting !== undefined) return;
  throw new RowProblem(
    mentioned.name,
    'the link has rules, which the file does not hold: without them it would lead elsewhere. Add them to the row',
  );
}

const WHOLE_NUMBER = /^\d{1,15}$/;

function numberIn(found: Found): unknown {
  return WHOLE_NUMBER.test(textOf(found)) ? Number(textOf(found)) : found.value;
}

const leastOf = (...counts: (number | null)[]) => {
  const known = counts.filter((one) => one !== null);
  return known.length === 0 ? null : Math.min(...known);
};

/** Returns how many visits are left; null: the row does not count them. */
function leftOf(row: SourceRow, most: Found): number | null {
  if (!WHOLE_NUMBER.test(textOf(most))) return null;
  const counts = columnsOf(row, VISITS).filter((one) => WHOLE_NUMBER.test(textOf(one)));
  const [word = ''] = new RegExp(COUNTED).exec(columnKey(most.name)) ?? [];
  // `max_uses` is about `uses`, whatever else the row counts.
  const alike = counts.filter(({ name }) => word !== '' && columnKey(name).includes(word.replace(/s$/, '')));
  const visits = (alike.length > 0 ? alike : counts).map((one) => Number(textOf(one)));
  if (visits.length === 0) return null;
  const [used, all] = [Math.max(...visits), Number(textOf(most))];
  if (used >= all) {
    throw new RowProblem(most.name, USED_UP_THERE);
  }
  return all - used;
}

/** Returns how many visits are left, as the row states; null: the value is not a count, such as -1 for any number. */
function remainingOf(row: SourceRow, found: Found): number | null {
  if (!WHOLE_NUMBER.test(textOf(found))) {
    row.columns.left.add(columnKey(found.name));
    return null;
  }
  if (Number(textOf(found)) === 0) throw new RowProblem(found.name, USED_UP_THERE);
  return Number(textOf(found));
}
