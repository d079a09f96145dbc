import type { ClickHouseClient } from '../client.ts';
import { IN_SPAN, NOT_DELETED } from '../queries/visible-clicks.ts';
import { cachedShares, wholeDays } from './cached-parts.ts';
import { type ClicksBy, estimatedClicks, exactClicks } from './clicks-by.ts';
import { countedShares } from './counted-shares.ts';
import { EXACT_CLICKS, type ReportedClicks, type ReportWindow } from './request.ts';
import { planWindow } from './window-plan.ts';

export type { ReportWindow };

/** What a report reads: subqueries, with their parameters. */
export type Sources = {
  /** Whether visitors are counted exactly. */
  isExact: boolean;
  clicksBy: ClicksBy;
  /** The shares of the window's orders that count ({@link countedShares}). */
  shares: string;
  /** Returns the same shares with only `channel, share, lead, amount_minor`: days may come from the cache. */
  channelShares(): string;
  /** The condition on links, deleted ones included, for the report's shares. */
  condition: string;
};

/**
 * Runs a report. A window with few clicks is counted click by click, visitors exactly. A window with many is put together from
 * rolled-up months and days and the clicks at its edges, visitors estimated; parts of such reports that are requested again
 * are cached (`cached-parts.ts`).
 *
 * @param run runs the report's queries; it is called again when the roll-ups changed meanwhile
 */
export async function report<T>(
  client: ClickHouseClient,
  window: ReportWindow,
  links: Pick<ReportedClicks, 'condition' | 'params'>,
  run: (sources: Sources) => Promise<T>,
): Promise<T> {
  const { condition, params } = links;
  const clicks: ReportedClicks = {
    exactUpTo: EXACT_CLICKS,
    ...window,
    params,
    condition: window.hasDeleted ? `${condition} ${NOT_DELETED}` : condition,
  };
  return planWindow(client, clicks, (cover) => {
    const shares = countedShares(IN_SPAN);
    const common = { condition: clicks.condition, shares };
    if (cover === null) {
      return run({ ...common, isExact: true, clicksBy: exactClicks(clicks), channelShares: () => shares });
    }
    const days = clicks.condition === '' ? wholeDays(clicks.span) : null;
    return run({
      ...common,
      isExact: false,
      clicksBy: estimatedClicks(client, clicks, cover, days),
      channelShares: () => (days ? cachedShares(client, clicks.workspaceId, 'link', 'window') : shares),
    });
  });
}
