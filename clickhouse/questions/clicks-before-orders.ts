import type { ClickHouseClient } from '../client.ts';

/** Where to look for the clicks of one visitor before one order. Times in microseconds. */
export type ClickSpan = {
  /** The order's place in the caller's list. */
  position: number;
  workspaceId: string;
  visitorId: string;
  /** Inclusive: the order's time less its attribution window. */
  from: number;
  /** Exclusive: the order's time. */
  to: number;
};

/** The clicks before an order on one link through one channel. */
export type ClickGroup = {
  position: number;
  linkId: string;
  channel: string;
  clicks: number;
  /** Nanoseconds, of the earliest and of the latest of them. */
  firstTs: bigint;
  lastTs: bigint;
};

// Bots count in no figure; links of deleted bio buttons are gone from every answer.
const COUNTED = `NOT is_bot
  AND (clicks.workspace_id, link_id) NOT IN (SELECT workspace_id, link_id FROM deleted_links)`;

const SPANS = `(
  SELECT span.1 AS position, span.2 AS workspace_id, span.3 AS visitor_id,
    fromUnixTimestamp64Micro(span.4, 'UTC') AS since, fromUnixTimestamp64Micro(span.5, 'UTC') AS until
  FROM (SELECT arrayJoin(arrayZip({positions:Array(UInt32)}, {workspaces:Array(UUID)}, {visitors:Array(UUID)},
    {froms:Array(Int64)}, {tos:Array(Int64)})) AS span)
) AS span`;

const MATCHES = `clicks INNER JOIN ${SPANS}
  ON clicks.workspace_id = span.workspace_id AND clicks.visitor_id = span.visitor_id
  WHERE clicks.workspace_id IN (SELECT arrayJoin({workspaces:Array(UUID)}))
    AND clicks.visitor_id IN (SELECT arrayJoin({visitors:Array(UUID)}))
    AND clicks.ts < fromUnixTimestamp64Micro({latest:Int64}, 'UTC') AND clicks.ts < span.until`;

/**
 * The clicks that count for orders under their attribution windows, grouped by link and channel: enough for
 * every model, however many clicks there are.
 */
export async function clicksBeforeOrders(
  client: ClickHouseClient,
  spans: readonly ClickSpan[],
): Promise<ClickGroup[]> {
  if (spans.length === 0) return [];
  const result = await client.query({
    query: `SELECT span.position AS position, link_id, channel, count() AS clicks,
        toUnixTimestamp64Nano(min(ts)) AS first_ts, toUnixTimestamp64Nano(max(ts)) AS last_ts
      FROM ${MATCHES}
        AND clicks.ts >= fromUnixTimestamp64Micro({earliest:Int64}, 'UTC') AND clicks.ts >= span.since
        AND ${COUNTED}
      GROUP BY position, link_id, channel`,
    query_params: { ...parametersOf(spans), earliest: Math.min(...spans.map((span) => span.from)) },
    // Many visitors make a long list: in the body of the request, not in its address.
    use_multipart_params: true,
    format: 'JSONCompactEachRow',
  });
  const rows = await result.json<[number, string, string, string, string, string]>();
  return rows.map(([position, linkId, channel, clicks, firstTs, lastTs]) => ({
    position,
    linkId,
    channel,
    clicks: Number(clicks),
    firstTs: BigInt(firstTs),
    lastTs: BigInt(lastTs),
  }));
}

/** The channel of the first click ever made before each order by one of its visitors; none: no entry. */
export async function firstChannels(
  client: ClickHouseClient,
  spans: readonly ClickSpan[],
): Promise<Map<number, string>> {
  if (spans.length === 0) return new Map();
  const result = await client.query({
    query: `SELECT span.position AS position, argMin(channel, ts) AS first_channel
      FROM ${MATCHES} AND ${COUNTED} GROUP BY position`,
    query_params: parametersOf(spans),
    use_multipart_params: true,
    format: 'JSONCompactEachRow',
  });
  return new Map(await result.json<[number, string]>());
}

function parametersOf(spans: readonly ClickSpan[]) {
  return {
    positions: spans.map((span) => span.position),
    workspaces: spans.map((span) => span.workspaceId),
    visitors: spans.map((span) => span.visitorId),
    froms: spans.map((span) => span.from),
    tos: spans.map((span) => span.to),
    latest: Math.max(...spans.map((span) => span.to)),
  };
}
