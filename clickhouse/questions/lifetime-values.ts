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
  hasDeleted: boolean,
): Promise<Map<string, bigint>> {
  const rows = await ask<{ origin: string; revenue: string }>(client, {
    sql: `SELECT first_channel AS origin, sum(amount_minor) AS revenue FROM ${standingCredits('')}
          WHERE first_channel != '' ${hasDeleted ? NOT_DELETED : ''} GROUP BY origin`,
    params: { workspace: workspaceId },
    seconds: 60,
  });
  return new Map(rows.map((row) => [row.origin, BigInt(row.revenue)]));
}
