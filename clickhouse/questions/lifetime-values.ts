import type { ClickHouseClient } from '../client.ts';
import { ask } from './ask.ts';
import { standingCredits } from './standing-credits.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/**
 * All-time revenue of the people whose first click came through each channel, in minor units of the workspace's
 * currency. A channel that is no such person's is left out.
 */
export async function lifetimeValues(
  client: ClickHouseClient,
  workspaceId: string,
): Promise<Map<string, bigint>> {
  const rows = await ask<{ origin: string; revenue: string }>(client, {
    // An order's first channel stands on its part 0 only; its other parts have an empty one.
    sql: `SELECT origin, sum(revenue) AS revenue FROM (
            SELECT max(first_channel) AS origin, sumIf(amount_minor, true ${NOT_DELETED}) AS revenue
            FROM ${standingCredits('')} GROUP BY order_id)
          WHERE origin != '' GROUP BY origin`,
    params: { workspace: workspaceId },
    seconds: 60,
  });
  return new Map(rows.map((row) => [row.origin, BigInt(row.revenue)]));
}
