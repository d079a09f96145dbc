import { NANOS_PER_DAY } from '../../core/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { type Cover, coverOf } from '../rollups/cover.ts';
import { ask } from './ask.ts';
import { IN_SPAN, inSpans, type Span } from './visible-clicks.ts';

type Given = {
  workspaceId: string;
  span: Span;
  /** On `link_id`, beginning with `AND`; empty: all links. */
  condition: string;
  /** What the condition needs. */
  params: Record<string, unknown>;
};

/** What is known of a window before its clicks are counted. */
export type WindowSize = {
  /** What a window with more clicks of people than was asked about can be put together from; null: it has not so many. */
  largeCover: Cover | null;
  /** Whether the workspace has deleted links. Their clicks are counted here. */
  hasDeleted: boolean;
  /** Whether the credit of any order of the workspace was shared among links. */
  hasShared: boolean;
};

/**
 * Whether a window has more than `upTo` clicks without bots, without counting them if it can be helped: the store says
 * from its index alone how many there are at most; the days that stand rolled up say how many there are at least, but
 * for what was erased since their last pass.
 */
export async function windowSize(
  client: ClickHouseClient,
  { upTo, ...given }: Given & { upTo: number },
): Promise<WindowSize> {
  const [most, traits] = await Promise.all([mostRows(client, given), traitsOf(client, given.workspaceId)]);
  if (most <= upTo) return { largeCover: null, ...traits };
  const { rolledUp, cover } = await rolledUpOf(client, given);
  const isLarge = rolledUp > upTo || rolledUp + (await clicksIn(client, given, cover.rest, upTo)) > upTo;
  return { largeCover: isLarge ? cover : null, ...traits };
}

async function traitsOf(
  client: ClickHouseClient,
  workspaceId: string,
): Promise<Pick<WindowSize, 'hasDeleted' | 'hasShared'>> {
  const [row] = await ask<{ deleted: number; shared: number }>(client, {
    sql: `SELECT exists(SELECT 1 FROM deleted_links WHERE workspace_id = {workspace:UUID}) AS deleted,
            exists(SELECT 1 FROM order_credits WHERE workspace_id = {workspace:UUID} AND part > 0) AS shared`,
    params: { workspace: workspaceId },
    seconds: 20,
  });
  return { hasDeleted: row?.deleted === 1, hasShared: row?.shared === 1 };
}

/** Rows of the parts of the table that may hold the window's clicks. */
async function mostRows(client: ClickHouseClient, given: Given): Promise<number> {
  const rows = await ask<{ rows: string | number }>(client, {
    sql: `EXPLAIN ESTIMATE SELECT ts FROM clicks
          WHERE workspace_id = {workspace:UUID} ${given.condition} AND ${IN_SPAN}`,
    params: paramsOf(given),
    seconds: 20,
  });
  return rows.reduce((sum, row) => sum + Number(row.rows), 0);
}

async function rolledUpOf(
  client: ClickHouseClient,
  given: Given,
): Promise<{ rolledUp: number; cover: Cover }> {
  const { span, condition } = given;
  const [clicks, table] = condition === '' ? ['max', 'rolled_up_workspaces'] : ['sum', 'clicks_rolled_up'];
  const [row] = await ask<{
    periods: [period: 'day' | 'month', start: string, generation: string][];
    own: [generation: string, clicks: string][];
  }>(client, {
    sql: `
      WITH (SELECT groupArray((period, start, generation)) FROM rolled_up_periods FINAL
          WHERE start >= {firstDay:Date32} AND start < {endDay:Date32}) AS standing
      SELECT
        arrayMap(one -> (one.1, toString(one.2), toString(one.3)), standing) AS periods,
        (SELECT groupArray((toString(generation), toString(own))) FROM (
          SELECT generation, ${clicks}(clicks) AS own FROM ${table}
          WHERE workspace_id = {workspace:UUID} AND generation IN (SELECT arrayJoin(standing).3) ${condition}
          GROUP BY generation)) AS own`,
    params: {
      ...paramsOf(given),
      firstDay: dateOf((span.from + NANOS_PER_DAY - 1n) / NANOS_PER_DAY),
      endDay: dateOf(span.to / NANOS_PER_DAY),
    },
    seconds: 20,
  });
  const periods = (row?.periods ?? []).map(([period, start, generation]) => ({ period, start, generation }));
  const cover = coverOf(span, periods);
  const own = new Map(row?.own);
  return {
    cover,
    rolledUp: cover.generations.reduce((sum, generation) => sum + Number(own.get(generation) ?? 0), 0),
  };
}

/** Clicks without bots in some spans, counted no further than one more than `upTo`. */
async function clicksIn(
  client: ClickHouseClient,
  given: Given,
  spans: readonly Span[],
  upTo: number,
): Promise<number> {
  const { sql, params } = inSpans(spans);
  const [row] = await ask<{ found: string }>(client, {
    sql: `SELECT count() AS found FROM (SELECT 1 FROM clicks
            WHERE workspace_id = {workspace:UUID} AND NOT is_bot ${given.condition} AND ${sql} LIMIT {more:UInt64})`,
    params: { ...paramsOf(given), ...params, more: upTo + 1 },
    seconds: 30,
  });
  return Number(row?.found ?? 0);
}

const paramsOf = ({ workspaceId, span, params }: Given) => ({ ...params, workspace: workspaceId, ...span });

/** `YYYY-MM-DD` of a number of days since the epoch. */
function dateOf(days: bigint): string {
  return new Date(Number(days) * 86_400_000).toISOString().slice(0, 10);
}
