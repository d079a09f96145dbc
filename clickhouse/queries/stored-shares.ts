import type { ClickHouseClient } from '../client.ts';
import { runQuery } from './run-query.ts';

/** When an order or a lead of a workspace happened. */
export type EventTime = {
  workspaceId: string;
  /** Microseconds. */
  ts: number;
  streamOrdinal: number;
};

/** A version of an event in `attributed_shares`, under the order id that it was written with. */
export type StoredShares = { orderId: string; version: number; parts: number; isLead: boolean };

/** Returns one text for each moment of a workspace: no two identifies have the same. */
export function momentKey({ workspaceId, ts, streamOrdinal }: EventTime): string {
  return `${workspaceId}/${nanos({ ts, streamOrdinal })}`;
}

/**
 * Returns the versions with these times that are in `attributed_shares` and not replaced, by {@link momentKey}, each
 * with its number of parts. The parts of a version are inserted at once, so in full.
 */
export async function storedShares(
  client: ClickHouseClient,
  events: readonly EventTime[],
): Promise<Map<string, StoredShares[]>> {
  const stored = new Map<string, StoredShares[]>();
  if (events.length === 0) return stored;
  const rows = await runQuery<{
    key: string;
    order_id: string;
    version: string;
    parts: number;
    is_lead: 0 | 1;
  }>(client, {
    sql: `SELECT concat(toString(workspace_id), '/', toString(toUnixTimestamp64Nano(ts))) AS key, order_id, version,
        max(part) + 1 AS parts, max(lead) > 0 AS is_lead
      FROM attributed_shares FINAL
      WHERE (workspace_id, ts) IN (
        SELECT given.1, fromUnixTimestamp64Nano(given.2, 'UTC') FROM (
          SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {times:Array(Int64)})) AS given))
        AND NOT replaced
      GROUP BY workspace_id, ts, order_id, version`,
    params: { workspaces: events.map(({ workspaceId }) => workspaceId), times: events.map(nanos) },
    seconds: 30,
  });
  for (const { key, order_id, version, parts, is_lead } of rows) {
    const all = stored.get(key) ?? [];
    all.push({ orderId: order_id, version: Number(version), parts: Number(parts), isLead: is_lead === 1 });
    stored.set(key, all);
  }
  return stored;
}

function nanos({ ts, streamOrdinal }: Omit<EventTime, 'workspaceId'>): bigint {
  return BigInt(ts) * 1_000n + BigInt(streamOrdinal);
}
