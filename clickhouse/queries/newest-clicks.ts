import { clampToStored, NANOS_PER_DAY, nowNanos } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { type ClickText, SHOWN_AS_TEXT, toClickText } from './click-text.ts';
import { runQueryLines } from './run-query.ts';
import { SHOWN_COLUMNS } from './shown-clicks.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** Which clicks of a workspace. Instants are nanoseconds inside what the store can hold (`clampToStored`). */
export type ClickFilter = {
  workspaceId: string;
  /** Inclusive; null: from the first. */
  since: bigint | null;
  /** Exclusive; null: to the newest. */
  before: bigint | null;
  /** Of these links only; null: of all. Ids of other workspaces match nothing. */
  linkIds: string[] | null;
  /** Whether bots' clicks are in. */
  bots: boolean;
  /** Whether the workspace has deleted links, whose clicks are left out. */
  hasDeletedLinks: boolean;
};

/**
 * How far back a page is looked for at first, then once more, before everything is searched. A page without a lower
 * bound opens every part of every month, most of them for nothing: a day's bound costs an eighth of it
 * (`clickhouse/README.md`).
 */
const LOOKS_BACK = [NANOS_PER_DAY, 32n * NANOS_PER_DAY];

/**
 * The former planner is done with so plain a question a tenth of its whole time sooner. It reads all columns of each part that
 * may have the newest clicks, where the present one first looks which have them. That is worth more where new parts still come
 * (with two parts 7 % of a page), but not where one part has them all, nor where links are named. A store that no longer has
 * that planner takes no notice.
 */
const PLANNED_SOONER = { enable_analyzer: 0 } as const;

/**
 * The newest clicks of a filter, newest first. `(workspace_id, ts)` is a total order and the table's own: the page
 * is read from its end, and passing the last click's `ts` as `before` neither repeats nor skips one.
 *
 * @param limit how many at most
 */
export async function newestClicks(
  client: ClickHouseClient,
  filter: ClickFilter,
  limit: number,
): Promise<ClickText[]> {
  const now = nowNanos();
  const end = filter.before !== null && filter.before < now ? filter.before : now;
  for (const back of LOOKS_BACK) {
    const since = clampToStored(end - back);
    if (filter.since !== null && filter.since >= since) break;
    const rows = await newestOf(client, { ...filter, since }, limit);
    if (rows.length === limit) return rows;
  }
  return newestOf(client, filter, limit);
}

async function newestOf(client: ClickHouseClient, filter: ClickFilter, limit: number): Promise<ClickText[]> {
  const { conditions, params } = clickConditions(filter);
  const lines = await runQueryLines(client, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks WHERE ${conditions} ORDER BY ts DESC LIMIT {limit:UInt32}`,
    params: { ...params, limit },
    seconds: 20,
    settings: { ...SHOWN_AS_TEXT, ...(!isOfNewParts(filter) && PLANNED_SOONER) },
  });
  return lines.map(toClickText);
}

/** Whether a page is of all links, up to clicks that came a day ago at most. */
const isOfNewParts = ({ before, linkIds }: ClickFilter): boolean =>
  linkIds === null && (before === null || before > nowNanos() - NANOS_PER_DAY);

/** The filter as SQL on `clicks`, with its parameters. */
export function clickConditions(filter: ClickFilter): {
  conditions: string;
  params: Record<string, unknown>;
} {
  const conditions = ['workspace_id = {workspace:UUID}'];
  const params: Record<string, unknown> = { workspace: filter.workspaceId };
  if (filter.since !== null) {
    conditions.push("ts >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')");
    params.since = filter.since;
  }
  if (filter.before !== null) {
    conditions.push("ts < fromUnixTimestamp64Nano({before:Int64}, 'UTC')");
    params.before = filter.before;
  }
  if (filter.linkIds !== null) {
    conditions.push('link_id IN {links:Array(UUID)}');
    params.links = filter.linkIds;
  }
  if (!filter.bots) conditions.push('NOT is_bot');
  const sql = conditions.join(' AND ');
  return { conditions: filter.hasDeletedLinks ? `${sql} ${NOT_DELETED}` : sql, params };
}
