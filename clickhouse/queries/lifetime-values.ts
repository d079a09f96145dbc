import type { ClickHouseClient } from '../client.ts';
import { knownCredits, mergedCredits, ONE_MOMENT } from '../rollups/merged-credits.ts';
import { runQuery } from './run-query.ts';
import { standingCredits } from './standing-credits.ts';

/** Where a person first came from, among what is left when the history of some bio buttons is deleted. */
const ORIGIN_LEFT = `if(notEmpty(first_bio_links) AND arrayAll(
    link -> link IN (SELECT link_id FROM deleted_links WHERE workspace_id = {workspace:UUID}), first_bio_links),
  first_other_channel, first_channel)`;

/**
 * All-time revenue of the people whose first click came through each channel, in minor units of the workspace's
 * currency, whatever link their orders are credited to. A channel that is no such person's is left out.
 *
 * The first click is the earliest before the order that is left: once the bio buttons that came first are deleted, an order counts
 * for the channel of the first click on another link, and for none when there was no other.
 *
 * @param hasDeleted whether the workspace has deleted links: looking for them takes up to twice the time
 * @param isLarge whether it has so many clicks that its days are worth being put together beforehand
 */
export async function lifetimeValues(
  client: ClickHouseClient,
  workspaceId: string,
  hasDeleted: boolean,
  isLarge = false,
): Promise<Map<string, bigint>> {
  const merged = isLarge && !hasDeleted ? knownCredits(client, workspaceId) : null;
  const origins = merged
    ? `(SELECT channel AS origin, amount_minor FROM ${mergedCredits('origin', 'all time')})`
    : `(SELECT ${hasDeleted ? ORIGIN_LEFT : 'first_channel'} AS origin, amount_minor FROM ${standingCredits('')})`;
  const rows = await runQuery<{ origin: string; revenue: string }>(client, {
    sql: `SELECT origin, sum(amount_minor) AS revenue FROM ${origins} WHERE origin != '' GROUP BY origin`,
    params: { workspace: workspaceId, ...merged },
    seconds: 60,
    settings: ONE_MOMENT,
  });
  return new Map(rows.map((row) => [row.origin, BigInt(row.revenue)]));
}
