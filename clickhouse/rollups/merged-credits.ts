import { formatDay, NANOS_PER_DAY } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { createClientCaches } from '../client-caches.ts';
import { standingCredits } from '../queries/standing-credits.ts';
import { IN_SPAN, type Span } from '../queries/visible-clicks.ts';
import { insertMerged, noteAsked, READ_MS } from './asked-again.ts';

/** What credits are summed by: the credited link's channel, or where the person first came from. */
export type CreditedTo = 'link' | 'origin';
const CHANNEL_OF = { link: 'channel', origin: 'first_channel' } as const;

/** What names the rows that were merged of a workspace at a time, as a parameter. */
export type MergedCredits = { merged_id: string };

const WORKSPACES = 10_000;
type Known = MergedCredits & { readUntil: number };
const knownOf = createClientCaches<string, Known>(WORKSPACES);

const OWN = 'workspace_id = {workspace:UUID}';
const MERGED = `${OWN} AND id = {merged_id:UUID}`;
/** 1970 where they are not: a replica may not have them yet. They are one part, so there in full or not at all. */
const MADE = `(SELECT max(made) FROM merged_credits WHERE ${MERGED})`;

const DAY = 'toDate32(ts)';
const IN_WHOLE_DAYS = `ts >= toDateTime64({whole_from:Date32}, 9, 'UTC') AND ts < toDateTime64({whole_to:Date32}, 9, 'UTC')`;
const OUTSIDE = `ts < toDateTime64({whole_from:Date32}, 9, 'UTC') OR ts >= toDateTime64({whole_to:Date32}, 9, 'UTC')`;

/** The whole days (UTC) inside a window, as parameters; null when there is none. */
export function wholeDays({ from, to }: Span): { whole_from: string; whole_to: string } | null {
  const [first, end] = [from + intoDay(-from), to - intoDay(to)];
  return first < end ? { whole_from: formatDay(first), whole_to: formatDay(end) } : null;
}

/** Nanoseconds since the last midnight, before 1970 too. */
const intoDay = (nanos: bigint) => ((nanos % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;

/**
 * Of the question that has {@link mergedCredits}: whatever it reads of a table is of one moment. Otherwise an order that is replaced
 * meanwhile could be counted by both of its versions.
 */
export const ONE_MOMENT = { enable_shared_storage_snapshot_in_query: 1 } as const;

/**
 * The credits that count as a subquery, `channel, share, amount_minor`: the sums of the days that were merged, and the rows of
 * the rest (`standingCredits`). A day of which a row was written since it was merged, or an hour before, is rest: another version of
 * one of its orders may count now. Goes with the parameters `workspace` and {@link MergedCredits}, with {@link ONE_MOMENT}, and for
 * a window with `from`, `to` and {@link wholeDays}.
 *
 * @param when a window that has whole days, or all time
 */
export function mergedCredits(of: CreditedTo, when: 'window' | 'all time'): string {
  const isWindow = when === 'window';
  // Scalars, which the store asks once wherever they stand.
  const changed = `(SELECT groupUniqArray(${DAY}) FROM attributed_shares
    WHERE ${OWN} ${isWindow ? `AND ${IN_WHOLE_DAYS}` : ''} AND written > ${MADE} - INTERVAL 1 HOUR)`;
  const rest = `${isWindow ? `${IN_SPAN} AND` : ''}
    (${isWindow ? `${OUTSIDE} OR` : ''} ${MADE} = toDateTime(0) OR ${DAY} IN (SELECT arrayJoin(${changed})))`;
  return `(
    SELECT channel, share, amount_minor FROM merged_credits
    WHERE ${MERGED} AND of = '${of}' AND NOT has(${changed}, day)
      ${isWindow ? 'AND day >= {whole_from:Date32} AND day < {whole_to:Date32}' : ''}
    UNION ALL
    SELECT ${CHANNEL_OF[of]} AS channel, share, amount_minor FROM ${standingCredits(rest)})`;
}

/**
 * What this process has merged of the workspace's credits; null: nothing that may be read. Notes that it was asked for: it is merged
 * when that happens again, all of its days.
 */
export function knownCredits(client: ClickHouseClient, workspaceId: string): MergedCredits | null {
  noteAsked(client, `${workspaceId}/credits`, () => merge(client, workspaceId));
  const found = knownOf(client).get(workspaceId);
  const left = (found?.readUntil ?? 0) - Date.now();
  // More than there ever is: the clock was ahead.
  if (!found || left < 0 || left > READ_MS) return null;
  return { merged_id: found.merged_id };
}

const MERGE = `INSERT INTO merged_credits (workspace_id, id, made, of, day, channel, share, amount_minor)
  SELECT {workspace:UUID}, {merged_id:UUID}, now(), credited.1, ${DAY} AS day, credited.2, sum(share), sum(amount_minor)
  FROM (SELECT *, arrayJoin([('link', channel), ('origin', first_channel)]) AS credited FROM ${standingCredits('')})
  WHERE credited.2 != '' GROUP BY day, credited`;

async function merge(client: ClickHouseClient, workspaceId: string): Promise<void> {
  const readUntil = Date.now() + READ_MS;
  const params = { workspace: workspaceId, merged_id: crypto.randomUUID() };
  await insertMerged(client, MERGE, params);
  knownOf(client).set(workspaceId, { merged_id: params.merged_id, readUntil });
}
