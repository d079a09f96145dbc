import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ONE_MOMENT } from './cached-parts.ts';
import { cachedShares } from './cached-shares.ts';
import { countedShares } from './counted-shares.ts';
import type { ReportWindow } from './request.ts';

/** SQL of the channel of a person's first click, without the deleted history of bio buttons. */
const ORIGIN_LEFT = `if(notEmpty(first_bio_links) AND arrayAll(
    link -> link IN (SELECT link_id FROM deleted_links WHERE workspace_id = {workspace:UUID}), first_bio_links),
  first_other_channel, first_channel)`;

/**
 * Returns the all-time revenue of the people whose first click came through each channel, in minor units of the
 * workspace's currency. The links that have their orders do not matter. A channel without such a person is left out.
 *
 * The first click is the earliest before the order that is left: once the bio buttons that came first are deleted, an
 * order counts for the channel of the first click on another link, and for none when there was no other.
 *
 * @param isLarge whether the sums of days are cached
 */
export async function lifetimeValues(
  client: ClickHouseClient,
  { workspaceId, hasDeleted }: Pick<ReportWindow, 'workspaceId' | 'hasDeleted'>,
  isLarge = false,
): Promise<Map<string, bigint>> {
  const origins =
    isLarge && !hasDeleted
      ? `(SELECT channel AS origin, amount_minor FROM ${cachedShares(client, workspaceId, 'origin', 'all time')})`
      : `(SELECT ${hasDeleted ? ORIGIN_LEFT : 'first_channel'} AS origin, amount_minor FROM ${countedShares('')})`;
  const rows = await runQuery<{ origin: string; revenue: string }>(client, {
    sql: `SELECT origin, sum(amount_minor) AS revenue FROM ${origins} WHERE origin != '' GROUP BY origin`,
    params: { workspace: workspaceId },
    seconds: 60,
    settings: ONE_MOMENT,
  });
  return new Map(rows.map((row) => [row.origin, BigInt(row.revenue)]));
}
