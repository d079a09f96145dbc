import { formatDay, NANOS_PER_DAY } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import type { Sql } from '../queries/click-conditions.ts';
import { IN_SPAN, type Span } from '../queries/visible-clicks.ts';
import { noteRequest, OWN, type Shape } from './cached-parts.ts';
import { countedShares } from './counted-shares.ts';

/** The channel that shares are summed by: of the link that has the share, or of the person's first click. */
export type ShareChannel = 'link' | 'origin';
const CHANNEL_OF = { link: 'channel', origin: 'first_channel' } as const;

const DAY = 'toDate32(ts)';
const MIDNIGHTS = {
  from: "toDateTime64({whole_from:Date32}, 9, 'UTC')",
  to: "toDateTime64({whole_to:Date32}, 9, 'UTC')",
};
const IN_WHOLE_DAYS = `ts >= ${MIDNIGHTS.from} AND ts < ${MIDNIGHTS.to}`;
const OUTSIDE = `ts < ${MIDNIGHTS.from} OR ts >= ${MIDNIGHTS.to}`;

/** The parameters of {@link cachedShares} for a window: the whole days (UTC) inside it. */
export type WholeDays = { whole_from: string; whole_to: string };

/** Returns the whole days (UTC) inside a window; null when there are none. */
export function wholeDays({ from, to }: Span): WholeDays | null {
  const [first, end] = [from + intoDay(-from), to - intoDay(to)];
  return first < end ? { whole_from: formatDay(first), whole_to: formatDay(end) } : null;
}

/** Nanoseconds since the last midnight, before 1970 too. */
const intoDay = (nanos: bigint) => ((nanos % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;

/** What cached shares are summed by: the column of the cache, that of the shares, and the part's name. */
type SummedBy = { cached: string; read: string; part: string };

/**
 * Returns the shares that count as a subquery, `ts, channel, share, lead, amount_minor`: cached sums of days, whose `ts`
 * is the start of the day (UTC), and the shares of all other days ({@link countedShares}). A day with a share written
 * after its sums, or up to an hour before them, is read share by share: another version of one of its orders may count
 * now. So an insert of shares must take less than an hour.
 *
 * Needs the parameter `workspace` and {@link ONE_MOMENT}, and for a window `from`, `to` and {@link WholeDays}.
 *
 * @param when a window that has whole days, or all time
 */
export function cachedShares(
  client: ClickHouseClient,
  workspaceId: string,
  of: ShareChannel,
  when: 'window' | 'all time',
): string {
  noteRequest(client, `${workspaceId}/shares`, FILL_CHANNELS, { workspace: workspaceId });
  const part = `'shares/${of}'`;
  const by = { cached: 'channel, ', read: `${CHANNEL_OF[of]} AS channel, `, part };
  return sharesOf(by, when === 'window', countedShares);
}

/**
 * Returns the shares of links in a window of a shape as a subquery, as {@link cachedShares} does: its keys as
 * `k0, k1, …`, and the sums. Only the days of the window are cached. Null unless this process has done so.
 */
export function cachedSharesByKeys(
  client: ClickHouseClient,
  workspaceId: string,
  days: WholeDays,
  { name, keys, condition, params }: Shape,
): Sql | null {
  const part = `shares/${name}/${days.whole_from}/${days.whole_to}`;
  const ofPart = { ...params, ...days, workspace: workspaceId, part_of_shares: part };
  const names = keys.map((_, n) => `k${n}`);
  const read = keys.map((key, n) => `${key} AS ${names[n]}, `).join('');
  const rows = (when: string) => `(SELECT * FROM ${countedShares(when)} WHERE channel != '' ${condition})`;
  const fill = `INSERT INTO cached_report_parts (workspace_id, part, made, day, keys, share, lead, amount_minor)
    SELECT {workspace:UUID}, {part_of_shares:String}, (SELECT now64(6)), ${DAY} AS day, CAST([${names.join(', ')}], 'Array(String)'),
      sum(share), sum(lead), sum(amount_minor)
    FROM (SELECT ts, ${read} share, lead, amount_minor FROM ${rows(IN_WHOLE_DAYS)})
    GROUP BY ${['day', ...names].join(', ')}`;
  if (!noteRequest(client, `${workspaceId}/${part}`, fill, ofPart)) return null;
  const cached = names.map((key, n) => `keys[${n + 1}] AS ${key}, `).join('');
  return { sql: sharesOf({ cached, read, part: '{part_of_shares:String}' }, true, rows), params: ofPart };
}

/** @param rows the shares that count, where a condition on `ts` holds */
function sharesOf(
  { cached, read, part }: SummedBy,
  isWindow: boolean,
  rows: (when: string) => string,
): string {
  const ofPart = `${OWN} AND part = ${part}`;
  // The time is 1970 when no shares are cached. A fill writes one block with one `made`, so it is stored in full or not
  // at all.
  const made = `(SELECT max(made) FROM cached_report_parts WHERE ${ofPart})`;
  const isCached = `${made} > toDateTime64(0, 6, 'UTC')`;
  const changed = `(SELECT groupUniqArray(${DAY}) FROM attributed_shares
    WHERE ${OWN} ${isWindow ? `AND ${IN_WHOLE_DAYS}` : ''} AND ${isCached} AND written > ${made} - INTERVAL 1 HOUR)`;
  const rest = `${isWindow ? `${IN_SPAN} AND` : ''}
    (${isWindow ? `${OUTSIDE} OR` : ''} NOT ${isCached} OR ${DAY} IN (SELECT arrayJoin(${changed})))`;
  return `(
    SELECT toDateTime64(day, 9, 'UTC') AS ts, ${cached} share, lead, amount_minor FROM cached_report_parts
    WHERE ${ofPart} AND made = ${made} AND NOT has(${changed}, day)
      ${isWindow ? 'AND day >= {whole_from:Date32} AND day < {whole_to:Date32}' : ''}
    UNION ALL
    SELECT ts, ${read} share, lead, amount_minor FROM ${rows(rest)})`;
}

/** `made` is the moment before the shares are read. */
const FILL_CHANNELS = `INSERT INTO cached_report_parts (workspace_id, part, made, day, channel, share, lead, amount_minor)
  SELECT {workspace:UUID}, concat('shares/', target.1), (SELECT now64(6)), ${DAY} AS day, target.2, sum(share),
    sum(lead), sum(amount_minor)
  FROM (SELECT *, arrayJoin([('link', channel), ('origin', first_channel)]) AS target FROM ${countedShares('')})
  WHERE target.2 != '' GROUP BY day, target`;
