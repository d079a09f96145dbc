import { nestedValues, objectIn } from '../nested-values.ts';
import { columnKey, isYes, RowProblem, type SourceRow } from '../source-row.ts';
import { timeIn } from './times.ts';

/** Fields of a create that say whether and until when a link redirects, and the file's names of them. */
export type RowState = {
  body: Record<string, unknown>;
  /** `max_clicks`, less the visits that the row counts, also where the format reads it. */
  left: Record<string, unknown>;
  columnOf: Record<string, string>;
};

/** Names that mean off where they have a value that is not a no. Times count: `disabledAt`. */
const OFF = [
  'disabled',
  'isdisabled',
  'disabledat',
  'deleted',
  'isdeleted',
  'deletedat',
  'banned',
  'isbanned',
  'bannedat',
  'blocked',
  'isblocked',
  'suspended',
  'issuspended',
  'paused',
  'ispaused',
  'deactivated',
  'deactivatedat',
  'inactive',
  'isinactive',
  'removed',
  'isremoved',
  'removedat',
  'trashed',
  'istrashed',
  'trashedat',
  'draft',
  'isdraft',
  'frozen',
  'isfrozen',
];
const EXPIRED = ['isexpired', 'expired'];
/** Names that mean off where they have a no. */
const ON = ['enabled', 'isenabled', 'active', 'isactive', 'published', 'ispublished', 'live', 'islive'];
const STATUS = ['status', 'state', 'linkstatus'];
/** Letters of a status. */
const STATUS_OFF =
  /^(?:disabled?|inactive|notactive|deleted|banned|blocked|suspended|paused|deactivated|(?:switched|turned)?off|draft|removed|trashed|frozen|unpublished|false|no)(?:by[a-z]*|for[a-z]*)?$/;
const STATUS_EXPIRED = /^(?:expired|ended|over)$/;
const STATUS_USED_UP = /^(?:usedup|exhausted|limitreached|maxclicksreached)$/;
const ARCHIVED = ['archived', 'isarchived', 'archivedat'];

const EXPIRES = [
  'expiresat',
  'expires',
  'expiresin',
  'expireat',
  'expirein',
  'expiredat',
  'expiration',
  'expirationdate',
  'expirationtime',
  'expiry',
  'expirydate',
  'expiresdate',
  'validuntil',
  'validto',
  'validthrough',
  'enddate',
  'endsat',
  'endat',
  'ttl',
  'expirationat',
  'expirationvalue',
  'expirationdatetime',
  'validityuntil',
  'validityend',
  'availabilityuntil',
  'availabilityend',
  'expiredate',
  'expireson',
  'expiretime',
  'expirydatetime',
  'validtill',
  'validthru',
  'activeuntil',
  'activetill',
  'availableuntil',
  'gültigbis',
  'gultigbis',
  'ablaufdatum',
];
const STARTS = ['startsat', 'startdate', 'validsince', 'validfrom', 'activeat', 'activatesat'];
const MOST = [
  'maxclicks',
  'maxvisits',
  'clickslimit',
  'clicklimit',
  'visitslimit',
  'visitlimit',
  'maxuses',
  'maxviews',
  'maxhits',
  'maximumclicks',
  'maximumvisits',
  'limitclicks',
  'limitsclicks',
  'limitvisits',
  'limitsvisits',
];
const VISITS = ['visits', 'visitscount', 'visitcount', 'clicks', 'clickcount', 'hits', 'visitssummarytotal'];

/** Rules that an export only mentions, by the name of the rules themselves. */
const MENTIONED = [
  ['hasredirectrules', 'redirectrules'],
  ['hasrules', 'rules'],
  ['hastargeting', 'targeting'],
  ['hasgeotargeting', 'geo'],
] as const;

/** Objects whose own state is not the link's. */
const NOT_OF_LINK =
  /^(?:domains?|hostname|host|project|group|campaign|webhooks?|token|image|password|qr(?:code)?)$/;
/** Objects whose state is the link's: others have features that are on or off. */
const ABOUT_LINK =
  /^(?:meta|settings?|options?|config(?:uration)?|state|status|flags?|links?|linkdata|linkinfo|data|details|properties|attributes|info|moderation|lifecycle|availability|visibility|access|advanced|shorturl|shortlink|\d+)$/;

const NOTHING = /^(?:|null|\\n|none|never|undefined|-|0000-00-00(?: 00:00:00)?)$/i;

/**
 * Returns what a row says on whether its link redirects, in any format. Fields of the row's own format come first.
 *
 * @throws {RowProblem} for a link that was off, used up, or whose rules the file does not hold: here it would redirect
 */
export function stateOf(row: SourceRow): RowState {
  refuseOff(row);
  refuseMentioned(row);
  const state: RowState = { body: {}, left: {}, columnOf: {} };
  const take = (field: string, found: Found | null, value: unknown) => {
    if (found === null) return;
    state.body[field] = value;
    state.columnOf[field] = found.name;
  };
  const expires = find(row, EXPIRES, isNo);
  refuseSpan(expires);
  take('expires_at', expires, expires && timeIn(textOf(expires)));
  const starts = find(row, STARTS, isNo);
  take('starts_at', starts, starts && timeIn(textOf(starts)));
  const most = find(row, MOST);
  const left = most && leftOf(row, most);
  take('max_clicks', most, left ?? (most && numberIn(most)));
  if (left !== null) state.left.max_clicks = left;
  const archived = columnsOf(row, ARCHIVED).find(({ value }) => !isNo(value)) ?? null;
  take('archived', archived, true);
  return state;
}

type Found = { name: string; value: unknown };

const textOf = ({ value }: Found) => (typeof value === 'string' ? value.trim() : String(value));

/** Returns the first of these columns that has a value. */
function find(row: SourceRow, keys: readonly string[], isEmpty = isNothing): Found | null {
  return (
    columnsOf(row, keys, keys === VISITS ? ABOUT_LINK : /^/).find(({ value }) => !isEmpty(value)) ?? null
  );
}

/**
 * Returns the columns of these names: those of the row first, in this order, then those in its objects, by their own name
 * or their path, as in `meta.validUntil` and `expiration: { date }`.
 *
 * @param around the names of objects in which they may be
 */
function columnsOf(row: SourceRow, keys: readonly string[], around = ABOUT_LINK): Found[] {
  const nested = [...nestedValues(row.values)].filter(({ path }) => path.length > 1);
  const inner = nested.filter(({ path }) => {
    if (NOT_OF_LINK.test(path[0] ?? '')) return false;
    const isInside = path.slice(0, -1).every((name) => around.test(name));
    return keys.includes(path.join('')) || (keys.includes(path.at(-1) ?? '') && isInside);
  });
  for (const { top } of inner) row.columns.get(columnKey(top));
  const own = keys.flatMap((key) => row.columns.get(key) ?? []);
  const [objects, plain] = [true, false].map((is) => own.filter(({ value }) => isObject(value) === is));
  /** Objects in which nothing is named so, and that say something. */
  const unread = (objects ?? []).filter(
    ({ name }) =>
      !inner.some(({ top }) => top === name) && nested.some(({ top, value }) => top === name && !isNo(value)),
  );
  return [...(plain ?? []), ...inner.map(({ column, value }) => ({ name: column, value })), ...unread];
}

const isObject = (value: unknown) => objectIn(value) !== null;

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (typeof value === 'object') return Object.keys(value).length === 0;
  return typeof value === 'string' && NOTHING.test(value.trim());
}

function isNo(value: unknown): boolean {
  return isNothing(value) || value === 0 || /^(?:false|f|no|n|0)$/i.test(String(value).trim());
}

const OFF_THERE =
  'the link is switched off there, and would redirect here: leave its row out, or clear this field';
const USED_UP_THERE = 'the link is used up there, and would redirect here: leave its row out';

function refuseOff(row: SourceRow): void {
  const columns = (keys: readonly string[]) => columnsOf(row, keys);
  const statuses = columns(STATUS);
  const off =
    columns(OFF).find(({ value }) => !isNo(value)) ??
    columns(ON).find(({ value }) => value === false || (!isNothing(value) && isNo(value))) ??
    statuses.find((one) => STATUS_OFF.test(lettersOf(one)));
  if (off) throw new RowProblem(off.name, OFF_THERE);
  const usedUp = statuses.find((one) => STATUS_USED_UP.test(lettersOf(one)));
  if (usedUp) throw new RowProblem(usedUp.name, USED_UP_THERE);
  const expired =
    columns(EXPIRED).find(({ value }) => !isNo(value)) ??
    statuses.find((one) => STATUS_EXPIRED.test(lettersOf(one)));
  if (expired && !hasEnded(row)) throw new RowProblem(expired.name, OFF_THERE);
}

const lettersOf = (found: Found) =>
  textOf(found)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');

/** Returns whether the row has an end that is past: such a link is imported, and does not redirect. */
function hasEnded(row: SourceRow): boolean {
  const end = find(row, EXPIRES, isNo);
  return end !== null && Date.parse(timeIn(textOf(end))) <= Date.now();
}

/** A time to live is an instant, or how long the link lives. Nothing says which a small number is. */
function refuseSpan(found: Found | null): void {
  if (found === null || !/ttl$/i.test(found.name) || !/^\d{1,11}$/.test(textOf(found))) return;
  throw new RowProblem(
    found.name,
    'may be a time or a span of time: give the end as ISO 8601, or in milliseconds since 1970',
  );
}

function refuseMentioned(row: SourceRow): void {
  for (const [mention, rules] of MENTIONED) {
    const mentioned = columnsOf(row, [mention]).find(({ value }) => isYes(value));
    // Asked for only here: what is asked for counts as taken over.
    if (!mentioned || !isNothing(row.columns.get(rules)?.value)) continue;
    throw new RowProblem(
      mentioned.name,
      'the link has rules, which the file does not hold: without them it would lead elsewhere. Add them to the row',
    );
  }
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
