import { CREDITED_TEXTS, type CreditedClick } from '../../core/analytics/dimensions.ts';
import type { Channel } from '../../core/enrich/channels.ts';
import type { ClickHouseClient } from '../client.ts';
import { byVisitorParams, MAY_BE_CLICKS_OF_VISITORS } from '../rollups/clicks-by-visitor.ts';
import { IS_COUNTED } from './click-conditions.ts';
import { runQuery } from './run-query.ts';

/** The span in which clicks of one visitor before one order are searched. Times are in microseconds. */
export type ClickSpan = {
  /** The order's index in the caller's list. */
  position: number;
  workspaceId: string;
  visitorId: string;
  /** Inclusive: the order's time less its attribution window. */
  from: number;
  /** Exclusive: the order's time. */
  to: number;
};

/** Clicks before an order that share link, channel and every other dimension. */
export type ClickGroup = {
  position: number;
  linkId: string;
  channel: string;
  click: CreditedClick;
  clicks: number;
  /** Nanoseconds, of the earliest and of the latest of them. */
  firstTs: bigint;
  lastTs: bigint;
};

/** The first clicks of the person behind an order. */
export type Origin = {
  /** Channel of the first click. */
  channel: string;
  /** Links of bio buttons that the person clicked before any other link. */
  bioLinks: string[];
  /** Channel of the first click on another link; empty when there is none. */
  otherChannel: string;
};

/** Only links of this channel can be deleted with their history. */
const BIO: Channel = 'bio';
const DIMENSIONS = [...CREDITED_TEXTS, 'asn'].join(', ');
const NO_LINK = '00000000-0000-0000-0000-000000000000';

// Bots, visits of no link and links of deleted bio buttons never count.
const COUNTED = `${IS_COUNTED}
  AND (clicks.workspace_id, link_id) NOT IN (SELECT workspace_id, link_id FROM deleted_links)`;

const SPANS = `(
  SELECT span.1 AS position, span.2 AS workspace_id, span.3 AS visitor_id,
    fromUnixTimestamp64Micro(span.4, 'UTC') AS since, fromUnixTimestamp64Micro(span.5, 'UTC') AS until
  FROM (SELECT arrayJoin(arrayZip({positions:Array(UInt32)}, {workspaces:Array(UUID)}, {visitors:Array(UUID)},
    {froms:Array(Int64)}, {tos:Array(Int64)})) AS span)
) AS span`;

// PREWHERE runs before other columns are read. Among clicks that are not listed, only its condition on the visitor
// excludes most rows.
const MATCHES = `clicks INNER JOIN ${SPANS}
  ON clicks.workspace_id = span.workspace_id AND clicks.visitor_id = span.visitor_id
  PREWHERE ${MAY_BE_CLICKS_OF_VISITORS} AND clicks.visitor_id IN (SELECT arrayJoin({visitors:Array(UUID)}))
  WHERE clicks.workspace_id IN (SELECT arrayJoin({workspaces:Array(UUID)}))
    AND clicks.ts < fromUnixTimestamp64Micro({latest:Int64}, 'UTC') AND clicks.ts < span.until`;

/**
 * Returns the clicks that count for orders under their attribution windows, grouped by link, channel and all other
 * dimensions.
 */
export async function clicksBeforeOrders(
  client: ClickHouseClient,
  spans: readonly ClickSpan[],
): Promise<ClickGroup[]> {
  if (spans.length === 0) return [];
  const rows = await runQuery<GroupRow>(client, {
    sql: `SELECT span.position AS position, link_id, channel, ${DIMENSIONS}, count() AS clicks,
        toUnixTimestamp64Nano(min(ts)) AS first_ts, toUnixTimestamp64Nano(max(ts)) AS last_ts
      FROM ${MATCHES}
        AND clicks.ts >= fromUnixTimestamp64Micro({earliest:Int64}, 'UTC') AND clicks.ts >= span.since
        AND ${COUNTED}
      GROUP BY position, link_id, channel, ${DIMENSIONS}`,
    params: {
      ...(await parametersOf(client, spans)),
      earliest: spans.reduce((least, { from }) => Math.min(least, from), Infinity),
    },
    seconds: 30,
  });
  return rows.map(({ position, link_id, channel, clicks, first_ts, last_ts, ...click }) => ({
    position,
    linkId: link_id,
    channel,
    click,
    clicks: Number(clicks),
    firstTs: BigInt(first_ts),
    lastTs: BigInt(last_ts),
  }));
}

/**
 * Returns the origin of the person behind each order, from all clicks of its visitors before it. An order without
 * clicks has no entry. `from` is ignored.
 */
export async function origins(
  client: ClickHouseClient,
  spans: readonly ClickSpan[],
): Promise<Map<number, Origin>> {
  const found = new Map<number, Origin>();
  if (spans.length === 0) return found;
  const rows = await runQuery<{ position: number; bio_link: string; first_channel: string }>(client, {
    sql: `SELECT span.position AS position, if(channel = '${BIO}', link_id, toUUID('${NO_LINK}')) AS bio_link,
        argMin(channel, ts) AS first_channel
      FROM ${MATCHES} AND ${COUNTED} GROUP BY position, bio_link ORDER BY min(ts)`,
    params: await parametersOf(client, spans),
    seconds: 30,
  });
  for (const { position, bio_link, first_channel } of rows) {
    const origin = found.get(position) ?? { channel: first_channel, bioLinks: [], otherChannel: '' };
    found.set(position, origin);
    if (bio_link === NO_LINK) origin.otherChannel = first_channel;
    else if (origin.otherChannel === '') origin.bioLinks.push(bio_link);
  }
  return found;
}

type GroupRow = {
  position: number;
  link_id: string;
  channel: string;
  clicks: string;
  first_ts: string;
  last_ts: string;
} & CreditedClick;

async function parametersOf(client: ClickHouseClient, spans: readonly ClickSpan[]) {
  return {
    ...(await byVisitorParams(client)),
    positions: spans.map((span) => span.position),
    workspaces: spans.map((span) => span.workspaceId),
    visitors: spans.map((span) => span.visitorId),
    froms: spans.map((span) => span.from),
    tos: spans.map((span) => span.to),
    latest: spans.reduce((most, { to }) => Math.max(most, to), 0),
  };
}
