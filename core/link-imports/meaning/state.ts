import { nestedValues, objectIn } from '../nested-values.ts';
import { isYes, RowProblem, type SourceRow } from '../source-row.ts';
import { timeIn } from './times.ts';

/** Fields of a create that say whether and until when a link redirects, and the file's names of them. */
export type RowState = {
  body: Record<string, unknown>;
  /** `max_clicks`, less the visits that the row counts, also where the format reads it. */
  left: Record<string, unknown>;
  columnOf: Record<string, string>;
};

/** What may stand before and behind the word of a name. */
const BEFORE = '^(?:is|has|was|been|link|shortlink|shorturl|url)*';
const BEHIND = '(?:link|at|on|in|date|time|datetime|timestamp|utc|value)*$';
const named = (words: string, behind = BEHIND) => new RegExp(`${BEFORE}(?:${words})${behind}`);

/** Names that mean off where they have a value that is not a no. Times count: `disabledAt`. */
const OFF = named(
  'disabled|deleted|banned|blocked|suspended|paused|deactivated|inactive|removed|trashed|draft|frozen',
  '(?:link|at|on|date|time|by|id|reason|since)*$',
);
const EXPIRED = named('expired', '(?:link)?$');
/** Names that mean off where they have a no. */
const ON = named('enabled|active|activated|published|live', '(?:link)?$');
const STATUS = named('status|state', '(?:name|code|label|text|value)*$');
/** Letters of a status. */
const STATUS_OFF =
  /^(?:disabled?|inactive|notactive|deleted|banned|blocked|suspended|paused|deactivated|(?:switched|turned)?off|draft|removed|trashed|frozen|unpublished|false|no)(?:by[a-z]*|for[a-z]*)?$/;
const STATUS_EXPIRED = /^(?:expired|ended|over)$/;
const STATUS_USED_UP = /^(?:usedup|exhausted|limitreached|maxclicksreached)$/;
const STATUS_ARCHIVED = /^archived?$/;
const ARCHIVED = named('archived');

const EXPIRES = named(
  'expir(?:e|es|y|ing|ation)|expired(?:at|on|date|time)|valid(?:ity)?(?:until|till?|to|thru|through|end)|ends?(?:at|on|date|time)' +
    '|(?:active|available|availability)(?:until|till?|to|end)|ttl|g[uü]ltigbis|ablaufdatum',
);
const STARTS = named(
  'starts?(?:at|on|date|time)|valid(?:since|from)|activ(?:e|ates?|ation)(?:at|on|from|date)|availablefrom',
);
const COUNTED = '(?:clicks?|visits?|uses?|usages?|views?|hits?|redirects?)';
const MOST = named(
  `max(?:imum)?(?:number|num|no)?(?:of)?${COUNTED}|${COUNTED}(?:limit|max|maximum|cap)|limits?(?:max)?${COUNTED}`,
);
const VISITS = /^(?:total)?(?:visits?|clicks?|hits)(?:count|total)?$|^visitssummarytotal$/;

/** Names that say that the link has rules. */
const MENTIONED = /^has(?:redirect|geo|country|device)?(?:rules?|targeting|targets)$/;

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
  const most = find(row, MOST);
  const left = most && leftOf(row, most);
  take('max_clicks', most, left ?? (most && numberIn(most)));
  if (left !== null) state.left.max_clicks = left;
  const archived =
    columnsOf(row, ARCHIVED).find(({ value }) => !isNo(value)) ??
    statusesOf(row).find((one) => STATUS_ARCHIVED.test(lettersOf(one))) ??
    null;
  take('archived', archived, true);
  return state;
}

type Found = { name: string; value: unknown };

const textOf = ({ value }: Found) => (typeof value === 'string' ? value.trim() : String(value));

/** Returns the first column of such a name that has a value. */
function find(row: SourceRow, names: RegExp, isEmpty = isNothing): Found | null {
  return (
    columnsOf(row, names, names === VISITS ? ABOUT_LINK : /^/).find(({ value }) => !isEmpty(value)) ?? null
  );
}

/** Returns the earliest end that the row names. */
function endOf(row: SourceRow): Found | null {
  const ends = columnsOf(row, EXPIRES, /^/).filter(({ value }) => !isNo(value));
  for (const end of ends) refuseSpan(end);
  const time = (end: Found) => Date.parse(timeIn(textOf(end))) || Number.NEGATIVE_INFINITY;
  return ends.toSorted((a, b) => time(a) - time(b))[0] ?? null;
}

/**
 * Returns the columns of such names: those of the row first, then those in its objects, by their own name or their path,
 * as in `meta.validUntil` and `expiration: { date }`.
 *
 * @param around the names of objects in which they may be
 */
function columnsOf(row: SourceRow, names: RegExp, around = ABOUT_LINK): Found[] {
  const nested = nestedValues(row.values).filter(({ path }) => path.length > 1);
  const inner = nested.filter(({ path }) => {
    if (NOT_OF_LINK.test(path[0] ?? '')) return false;
    const isInside = path.slice(0, -1).every((name) => around.test(name));
    return names.test(path.join('')) || (names.test(path.at(-1) ?? '') && isInside);
  });
  for (const { top, column } of inner) row.columns.readInside(top, column);
  const own = [...row.columns.keys()].flatMap((key) => (names.test(key) ? (row.columns.get(key) ?? []) : []));
  const [objects, plain] = [true, false].map((is) => own.filter(({ value }) => isObject(value) === is));
  /** Objects in which nothing is named so, and that say something. */
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
  return [...columnsOf(row, STATUS), ...inside.map(({ column, value }) => ({ name: column, value }))];
}

const isObject = (value: unknown) => objectIn(value) !== null;

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return typeof value === 'string' && NOTHING.test(value.trim());
}

function isNo(value: unknown): boolean {
  return isNothing(value) || value === 0 || /^(?:false|f|no|n|0|off)$/i.test(String(value).trim());
}

const OFF_THERE =
  'the link is switched off there, and would redirect here: leave its row out, or clear this field';
const USED_UP_THERE = 'the link is used up there, and would redirect here: leave its row out';

function refuseOff(row: SourceRow): void {
  const statuses = statusesOf(row);
  const isOff = (one: Found) => STATUS_OFF.test(lettersOf(one));
  const off =
    columnsOf(row, OFF).find(({ value }) => !isNo(value)) ??
    columnsOf(row, ON).find(
      (one) => one.value === false || (!isNothing(one.value) && isNo(one.value)) || isOff(one),
    ) ??
    statuses.find(isOff);
  if (off) throw new RowProblem(off.name, OFF_THERE);
  const usedUp = statuses.find((one) => STATUS_USED_UP.test(lettersOf(one)));
  if (usedUp) throw new RowProblem(usedUp.name, USED_UP_THERE);
  const expired =
    columnsOf(row, EXPIRED).find(({ value }) => !isNo(value)) ??
    statuses.find((one) => STATUS_EXPIRED.test(lettersOf(one)));
  if (expired && !hasEnded(row)) throw new RowProblem(expired.name, OFF_THERE);
}

const lettersOf = (found: Found) =>
  textOf(found)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');

/** Returns whether the row has an end that is past: such a link is imported, and does not redirect. */
function hasEnded(row: SourceRow): boolean {
  const end = endOf(row);
  return end !== null && Date.parse(timeIn(textOf(end))) <= Date.now();
}

/** A time to live is an instant, or how long the link lives. Nothing says which a small number is. */
function refuseSpan(found: Found): void {
  if (!/ttl$/i.test(found.name) || !/^\d{1,11}$/.test(textOf(found))) return;
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

/** Returns how many visits are left; null: the row does not count them. */
function leftOf(row: SourceRow, most: Found): number | null {
  const visits = find(row, VISITS);
  if (visits === null || !WHOLE_NUMBER.test(textOf(visits)) || !WHOLE_NUMBER.test(textOf(most))) return null;
  const [used, all] = [Number(textOf(visits)), Number(textOf(most))];
  if (used >= all) {
    throw new RowProblem(most.name, USED_UP_THERE);
  }
  return all - used;
}
