import { clampToStored, NANOS_PER_DAY, nowNanos } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { type Condition, conditionsSql, IS_OWN, type Orphans, orphansSql } from './click-conditions.ts';
import { type ClickText, SHOWN_AS_TEXT, toClickText } from './click-text.ts';
import { runQueryLines } from './run-query.ts';
import { SHOWN_COLUMNS } from './shown-clicks.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** Selects clicks of a workspace. Instants are nanoseconds inside what ClickHouse can hold (`clampToStored`). */
export type ClickFilter = {
  workspaceId: string;
  /** Inclusive; null: from the first. */
  since: bigint | null;
  /** Exclusive; null: to the newest. */
  before: bigint | null;
  /** Null: all links. Ids of other workspaces match nothing. */
  linkIds: string[] | null;
  /** Whether clicks of bots are included. */
  bots: boolean;
  /** More conditions on the clicks. */
  conditions: readonly Condition[];
  /** Whether visits that led to no link are included, or alone. */
  orphans: Orphans;
  /** Whether the workspace has deleted links, whose clicks are left out. */
  hasDeletedLinks: boolean;
  /** Whether imported clicks are included. */
  imported: boolean;
};

/** Spans that are searched for a page before all of the table is: a query without a bound opens every part. */
const LOOKS = [NANOS_PER_DAY, 32n * NANOS_PER_DAY];

/**
 * The former planner plans a simple query faster, but reads all columns of each part that may have the newest clicks.
 * That pays unless new parts are still arriving. A ClickHouse without that planner ignores the setting.
 */
const FORMER_PLANNER = { enable_analyzer: 0 } as const;

/**
 * Returns the newest clicks of a filter, newest first. `(workspace_id, ts)` is a total order and the key of the table:
 * passing the last click's `ts` as `before` neither repeats nor skips a click.
 *
 * @param limit most clicks
 */
export async function newestClicks(
  client: ClickHouseClient,
  filter: ClickFilter,
  limit: number,
): Promise<ClickText[]> {
  const now = nowNanos();
  const end = filter.before !== null && filter.before < now ? filter.before : now;
  for (const back of LOOKS) {
    const since = clampToStored(end - back);
    if (filter.since !== null && filter.since >= since) break;
    const rows = await pageOf(client, { ...filter, since }, limit, 'DESC');
    if (rows.length === limit) return rows;
  }
  return pageOf(client, filter, limit, 'DESC');
}

/**
 * Returns the oldest clicks of a filter, oldest first. Passing the time after the last click's `ts` as `since` neither
 * repeats nor skips a click.
 *
 * @param limit most clicks
 */
export async function oldestClicks(
  client: ClickHouseClient,
  filter: ClickFilter,
  limit: number,
): Promise<ClickText[]> {
  const now = nowNanos();
  const end = filter.before !== null && filter.before < now ? filter.before : now;
  for (const ahead of filter.since === null ? [] : LOOKS) {
    const before = clampToStored((filter.since ?? 0n) + ahead);
    if (before >= end) break;
    const rows = await pageOf(client, { ...filter, before }, limit, 'ASC');
    if (rows.length === limit) return rows;
  }
  return pageOf(client, filter, limit, 'ASC');
}

async function pageOf(
  client: ClickHouseClient,
  filter: ClickFilter,
  limit: number,
  order: 'ASC' | 'DESC',
): Promise<ClickText[]> {
  const { conditions, params } = clickConditions(filter);
  const lines = await runQueryLines(client, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks WHERE ${conditions} ORDER BY ts ${order} LIMIT {limit:UInt32}`,
    params: { ...params, limit },
    seconds: 20,
    settings: { ...SHOWN_AS_TEXT, ...(!readsNewParts(filter) && FORMER_PLANNER) },
  });
  return lines.map(toClickText);
}

/** Returns whether a page is of all links, and ends at most a day ago. */
const readsNewParts = ({ before, linkIds }: ClickFilter): boolean =>
  linkIds === null && (before === null || before > nowNanos() - NANOS_PER_DAY);

/** Returns the filter as SQL on `clicks`, with its parameters. */
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
  if (!filter.imported) conditions.push(IS_OWN);
  const own = conditionsSql(filter.conditions);
  const sql = `${conditions.join(' AND ')} ${orphansSql(filter.orphans)} ${own.sql}`;
  return {
    conditions: filter.hasDeletedLinks ? `${sql} ${NOT_DELETED}` : sql,
    params: { ...params, ...own.params },
  };
}
