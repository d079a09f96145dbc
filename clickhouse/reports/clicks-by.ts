import type { ClickHouseClient } from '../client.ts';
import { CLICKS } from '../queries/click-conditions.ts';
import { IN_SPAN, inSpans } from '../queries/visible-clicks.ts';
import type { Cover } from '../rollups/cover.ts';
import {
  type CoverParams,
  cachedChannels,
  cachedLinks,
  coverParams,
  type WholeDays,
} from './cached-parts.ts';
import { type ReportedClicks, reportCondition, reportParams } from './request.ts';

/** What clicks are counted by; `workspace_id`: everything in one row. */
export type ClickKey = 'workspace_id' | 'channel' | 'link_id';

type CountedVisitors = 'visitors' | 'no visitors';

/**
 * Returns a subquery with a row for each `key`, and its parameters: `clicks`, and `visitors` (0 with `no visitors`, and never
 * more than the clicks). The query that has it needs `ONE_MOMENT`.
 *
 * @param links counts the clicks of these only
 */
export type ClicksBy = (
  key: ClickKey,
  visitors: CountedVisitors,
  links?: string[],
) => { sql: string; params: Record<string, unknown> };

/** Keeps to some links: the parameter `chosen`. */
const CHOSEN = 'AND link_id IN {chosen:Array(UUID)}';

/** Counts click by click, visitors exactly. */
export function exactClicks(clicks: ReportedClicks): ClicksBy {
  const params = reportParams(clicks);
  return (key, visitors, links) => ({
    sql: `(SELECT ${key}, ${CLICKS} AS clicks,
             ${visitors === 'visitors' ? 'uniqExact(visitor_id)' : 'toUInt64(0)'} AS visitors
           FROM clicks WHERE ${reportCondition(clicks)} AND ${IN_SPAN} ${links ? CHOSEN : ''}
           GROUP BY ${key})`,
    params: links ? { ...params, chosen: links } : params,
  });
}

/**
 * Counts from roll-ups and the clicks at the window's edges, visitors by `uniqCombined64(17)`: a standard error of 0.29 %, so
 * 1 % is three and a half of them. 16 bits would break the promise once in seventy rows.
 *
 * @param days parameters of the report's cached shares
 */
export function estimatedClicks(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  cover: Cover,
  days: WholeDays | null,
): ClicksBy {
  const ofCover = coverParams(clicks.workspaceId, cover);
  const rest = inSpans(cover.rest);
  const params = { ...reportParams(clicks), ...rest.params, ...ofCover, ...days };

  return (key, visitors, links) => {
    const withLinks = links ? { ...params, chosen: links } : params;
    const condition = links ? `${reportCondition(clicks)} ${CHOSEN}` : reportCondition(clicks);
    const [state, rolledState, estimate] =
      visitors === 'visitors'
        ? ['uniqCombined64State(17)(visitor_id)', 'visitors', 'uniqCombined64Merge(17)(state)']
        : ['0', '0', 'toUInt64(0)'];
    return {
      sql: `(
        SELECT ${key}, sum(found) AS clicks, least(${estimate}, sum(found)) AS visitors FROM (
          SELECT ${key}, clicks AS found, ${rolledState} AS state
          FROM ${rolledUpRows(client, clicks, ofCover, key, links)}
          UNION ALL
          SELECT ${key}, ${CLICKS}, ${state} FROM clicks WHERE ${condition} AND ${rest.sql} GROUP BY ${key})
        GROUP BY ${key})`,
      params: withLinks,
    };
  };
}

/** The rows of a cover as a subquery, for a key that they have: cached by channel and for some links. */
function rolledUpRows(
  client: ClickHouseClient,
  { condition }: ReportedClicks,
  ofCover: CoverParams,
  key: ClickKey,
  links: string[] | undefined,
): string {
  if (key !== 'link_id' && condition === '' && !links) {
    return `(SELECT *, {workspace:UUID} AS workspace_id FROM ${cachedChannels(client, ofCover)})`;
  }
  if (key === 'link_id' && links) {
    return `(SELECT * FROM ${cachedLinks(client, ofCover, links)} WHERE true ${condition})`;
  }
  return `(SELECT * FROM clicks_rolled_up
    WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} ${condition}
      ${links ? CHOSEN : ''})`;
}
