import type { ClickHouseClient } from '../client.ts';
import { mergedParams } from '../rollups/asked-again.ts';
import type { Cover } from '../rollups/cover.ts';
import {
  MERGED_LINK_CLICKS,
  MERGED_LINKS,
  MERGED_ROLL_UPS,
  noteChannelsAsked,
  noteLinkClicksAsked,
  noteLinksAsked,
} from '../rollups/merged.ts';
import { knownCredits, mergedCredits, wholeDays } from '../rollups/merged-credits.ts';
import { isStillKnown, type KnownWindow, knownWindow, noteWindow } from './known-windows.ts';
import { standingCredits } from './standing-credits.ts';
import {
  IN_SPAN,
  inSpans,
  NOT_DELETED,
  type ReportedClicks,
  reportedParams,
  reportedWhere,
} from './visible-clicks.ts';
import { windowSize } from './window-size.ts';

/** Up to that many clicks in the window, visitors are counted exactly; above, within 1 %. */
export const EXACT_CLICKS = 1_000_000;

/** Keys that the roll-ups know; `workspace_id`: everything in one row. */
const ROLLED_UP = ['workspace_id', 'channel', 'link_id'] as const;
/** Keys that only the clicks know; `bucket`: the last of the parameter `starts` (nanoseconds) not after the click. */
export const CLICK_KEYS = ['country', 'device', 'browser', 'os'] as const;
export type ClickKey = (typeof ROLLED_UP)[number] | (typeof CLICK_KEYS)[number] | 'bucket';

/** The bucket of a row's `ts`. */
export const BUCKET = 'roundDown(toUnixTimestamp64Nano(ts), {starts:Array(Int64)})';

const selected = (key: ClickKey) => (key === 'bucket' ? `${BUCKET} AS bucket` : key);
const isRolledUp = (key: ClickKey) => ROLLED_UP.some((known) => known === key);

type CountedVisitors = 'visitors' | 'no visitors';

/**
 * A subquery with a row for each `key`: `clicks`, and `visitors` (0 when they were not asked for, and never more
 * than the clicks). `params` go with it.
 *
 * @param links counts the clicks of these only
 */
export type ClicksBy = (
  key: ClickKey,
  visitors: CountedVisitors,
  links?: string[],
) => {
  sql: string;
  params: Record<string, unknown>;
};

/** How a report's clicks are counted. */
export type Reported = {
  /** Whether visitors are. */
  exact: boolean;
  /** Names the workspace with the whole periods of the window; of an exact report, nothing. */
  periods: string;
  by: ClicksBy;
  /** The report's own condition, and besides it what keeps deleted links out, for the report's orders. */
  condition: string;
  /** The orders' credits, as a subquery (`standingCredits`). */
  credits: string;
  /** As `credits`, with `channel, share, amount_minor` only: of a window with many clicks days are put together beforehand. */
  channelCredits: string;
  /** Whether the workspace has deleted links. */
  hasDeleted: boolean;
};

/**
 * Answers a report. Few clicks are counted one by one, visitors exactly. Many are put together from the days and months
 * that stand rolled up and the clicks of the window's edges, visitors estimated.
 *
 * A window of which it is known how it was counted is answered so at once. Whether that still holds is asked meanwhile,
 * and if it does not the report is answered anew.
 *
 * @param answer asks the store; it may be called twice
 */
export async function report<T>(
  client: ClickHouseClient,
  given: ReportedClicks,
  answer: (reported: Reported) => Promise<T>,
): Promise<T> {
  const known = knownWindow(client, given);
  if (known) {
    const [answered, holds] = await Promise.all([
      answer(reported(client, given, known)),
      isStillKnown(client, given, known),
    ]);
    if (holds) return answered;
  }
  let size = await windowSize(client, given);
  const { hasDeleted } = size;
  if (hasDeleted && size.largeCover) size = await windowSize(client, withoutDeleted(given, hasDeleted));
  noteWindow(client, given, size);
  return answer(reported(client, given, { cover: size.largeCover, hasDeleted }));
}

function reported(
  client: ClickHouseClient,
  given: ReportedClicks,
  { cover, hasDeleted }: KnownWindow,
): Reported {
  const clicks = withoutDeleted(given, hasDeleted);
  const credits = cover && mergedCreditsOf(client, clicks);
  return {
    exact: cover === null,
    periods: cover ? `${clicks.workspaceId}/${mergedParams(clicks.workspaceId, cover).cover}` : '',
    by: cover === null ? oneByOne(clicks) : estimated(client, clicks, cover, { ...credits }),
    condition: clicks.condition,
    credits: standingCredits(IN_SPAN),
    channelCredits: credits ? mergedCredits('link', 'window') : standingCredits(IN_SPAN),
    hasDeleted,
  };
}

/** What was merged of the credits of a window with many clicks, and goes with all of its links; as parameters. */
function mergedCreditsOf(client: ClickHouseClient, { workspaceId, condition, span }: ReportedClicks) {
  const days = condition === '' ? wholeDays(span) : null;
  const credits = days && knownCredits(client, workspaceId);
  return credits && { ...credits, ...days };
}

function withoutDeleted(given: ReportedClicks, hasDeleted: boolean): ReportedClicks {
  return hasDeleted ? { ...given, condition: `${given.condition} ${NOT_DELETED}` } : given;
}

/** Keeps to some links: the parameter `chosen`. */
const CHOSEN = 'AND link_id IN {chosen:Array(UUID)}';

function oneByOne(clicks: ReportedClicks): ClicksBy {
  const params = reportedParams(clicks);
  return (key, visitors, links) => ({
    sql: `(SELECT ${selected(key)}, count() AS clicks,
             ${visitors === 'visitors' ? 'uniqExact(visitor_id)' : 'toUInt64(0)'} AS visitors
           FROM clicks WHERE ${reportedWhere(clicks)} AND ${IN_SPAN} ${links ? CHOSEN : ''}
           GROUP BY ${key})`,
    params: links ? { ...params, chosen: links } : params,
  });
}

/**
 * `uniqCombined64(17)` has a standard error of 0.29 %, so 1 % is three and a half of them; 16 bits would break the
 * promise once in seventy rows (`clickhouse/README.md` has the measurements).
 *
 * @param more parameters that the report needs besides
 */
function estimated(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  cover: Cover,
  more: Record<string, unknown>,
): ClicksBy {
  const { workspaceId, condition } = clicks;
  const merged = mergedParams(workspaceId, cover);
  const rest = inSpans(cover.rest);
  const params: Record<string, unknown> = { ...reportedParams(clicks), ...rest.params, ...merged, ...more };

  /** The rows of the cover, for a key that they know; with the states of visitors if these are counted. */
  function rolledUpRows(key: ClickKey, visitors: CountedVisitors, links: string[] | undefined): string {
    if (key !== 'link_id' && condition === '' && !links) {
      noteChannelsAsked(client, merged);
      return `(SELECT *, {workspace:UUID} AS workspace_id FROM ${MERGED_ROLL_UPS})`;
    }
    if (key === 'link_id' && links) {
      noteLinksAsked(client, { ...merged, chosen: links });
      return `(SELECT * FROM ${MERGED_LINKS} WHERE true ${condition})`;
    }
    if (key === 'link_id' && condition === '' && visitors === 'no visitors') {
      noteLinkClicksAsked(client, merged);
      return MERGED_LINK_CLICKS;
    }
    return `(SELECT * FROM clicks_rolled_up
      WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} ${condition}
        ${links ? CHOSEN : ''})`;
  }

  return (key, visitors, links) => {
    const conditions = links ? `${condition} ${CHOSEN}` : condition;
    if (!isRolledUp(key)) {
      const counted =
        visitors === 'visitors' ? 'least(uniqCombined64(17)(visitor_id), clicks)' : 'toUInt64(0)';
      return {
        sql: `(SELECT ${selected(key)}, count() AS clicks, ${counted} AS visitors FROM clicks
               WHERE workspace_id = {workspace:UUID} AND NOT is_bot ${conditions} AND ${IN_SPAN} GROUP BY ${key})`,
        params: links ? { ...params, chosen: links } : params,
      };
    }
    const [state, rolledState, estimate] =
      visitors === 'visitors'
        ? ['uniqCombined64State(17)(visitor_id)', 'visitors', 'uniqCombined64Merge(17)(state)']
        : ['0', '0', 'toUInt64(0)'];
    return {
      sql: `(
        SELECT ${key}, sum(found) AS clicks, least(${estimate}, sum(found)) AS visitors FROM (
          SELECT ${key}, clicks AS found, ${rolledState} AS state FROM ${rolledUpRows(key, visitors, links)}
          UNION ALL
          SELECT ${key}, count(), ${state} FROM clicks
          WHERE workspace_id = {workspace:UUID} AND NOT is_bot ${conditions} AND ${rest.sql} GROUP BY ${key})
        GROUP BY ${key})`,
      params: links ? { ...params, chosen: links } : params,
    };
  };
}
