import { hideLinks } from '../../clickhouse/erasures.ts';
import {
  CLICK_NAMES,
  type ClickFieldName,
  type ClickRecord,
  clickField,
} from '../../core/clicks/field-names.ts';
import { uuidv7 } from '../../core/ids.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import type { TestStores } from './stores.ts';

/**
 * Inserts events directly into ClickHouse, for tests of its readers. Times are nanoseconds since the epoch and default
 * to now, one microsecond apart, so that each is unique.
 */

export type GivenClick = {
  workspaceId: string;
  tsNanos?: bigint;
  linkId?: string;
  visitorId?: string;
  channel?: string;
  country?: string;
  city?: string;
  browser?: string;
  os?: string;
  referer?: string;
  isBot?: boolean;
  /** Other columns of the table, by name, such as `utm_source`. */
  columns?: Record<string, string | number>;
};

const unknownValue = (name: ClickFieldName): string | number | boolean => {
  const { type, values = [''], own } = clickField(name);
  if (own !== undefined) return own;
  if (type === 'text') return values[0] ?? '';
  return type === 'number' ? 0 : type === 'boolean' ? false : '';
};

/** The API's fields of a click with unknown properties. */
export const NOTHING_REMEMBERED = Object.fromEntries(
  CLICK_NAMES.map((name) => [name, unknownValue(name)]),
) as Omit<ClickRecord, 'id' | 'ts'>;

export type GivenIdentify = {
  workspaceId: string;
  tsNanos?: bigint;
  visitorId?: string;
  otherVisitorIds?: string[];
  email?: string;
  externalUserId?: string;
};

export type GivenOrder = {
  workspaceId: string;
  orderId?: string;
  version?: bigint;
  tsNanos?: bigint;
  visitorId?: string;
  otherVisitorIds?: string[];
  email?: string;
  externalUserId?: string;
  amountMinor?: number;
  currency?: string;
};

/** One order's attributed shares: a share for each link, numbered in the given order. */
export type GivenShares = {
  workspaceId: string;
  orderId?: string;
  version?: bigint;
  tsNanos?: bigint;
  firstChannel?: string;
  /** Default: empty. */
  firstBioLinks?: string[];
  firstOtherChannel?: string;
  /** When ClickHouse received the rows, `YYYY-MM-DD HH:MM:SS`; default: now. */
  written?: string;
  /** Versions of the order that this one replaces. */
  replaces?: GivenShares[];
  parts: {
    linkId: string;
    channel: string;
    share: number;
    /** The share of a lead. */
    lead?: number;
    amountMinor: number;
    /** Other columns of the credited click, by name. */
    columns?: Record<string, string | number>;
  }[];
};

/** Used where there is no visitor or no link. */
export const NO_UUID = '00000000-0000-0000-0000-000000000000';

let lastMicros = 0n;

/** Now in nanoseconds, later than any earlier value. */
export function nextNanos(): bigint {
  const now = BigInt(Date.now()) * 1_000n;
  lastMicros = now > lastMicros ? now : lastMicros + 1n;
  return lastMicros * 1_000n;
}

/** Returns `2026-11-20 10:00:00.123456007`, the form with nine digits that ClickHouse reads. */
function stored(tsNanos: bigint): string {
  const seconds = new Date(Number(tsNanos / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${seconds.replace('T', ' ')}.${(tsNanos % 1_000_000_000n).toString().padStart(9, '0')}`;
}

async function insert(
  stores: Pick<TestStores, 'clickhouse'>,
  table: string,
  values: object[],
): Promise<void> {
  if (values.length > 0) await stores.clickhouse.insert({ table, values, format: 'JSONEachRow' });
}

export async function storeClicks(
  stores: Pick<TestStores, 'clickhouse'>,
  clicks: GivenClick[],
): Promise<Required<GivenClick>[]> {
  const rows = clicks.map(
    (click): Required<GivenClick> => ({
      tsNanos: nextNanos(),
      linkId: uuidv7(),
      visitorId: uuidv7(),
      channel: 'facebook',
      country: 'DE',
      city: 'Bonn',
      browser: 'Safari',
      os: 'iOS',
      referer: '',
      isBot: false,
      columns: {},
      ...click,
    }),
  );
  await insert(
    stores,
    'clicks',
    rows.map((row, index) => ({
      workspace_id: row.workspaceId,
      ts: stored(row.tsNanos),
      link_id: row.linkId,
      visitor_id: row.visitorId,
      channel: row.channel,
      country: row.country,
      city: row.city,
      device: 'mobile',
      browser: row.browser,
      os: row.os,
      referer: row.referer,
      is_bot: row.isBot,
      sequence: index,
      ...row.columns,
    })),
  );
  return rows;
}

export async function storeIdentifies(
  stores: Pick<TestStores, 'clickhouse'>,
  identifies: GivenIdentify[],
): Promise<void> {
  await insert(
    stores,
    'identifies',
    identifies.map((row, index) => ({
      workspace_id: row.workspaceId,
      visitor_id: row.visitorId ?? NO_UUID,
      other_visitor_ids: row.otherVisitorIds ?? [],
      ts: stored(row.tsNanos ?? nextNanos()),
      email: row.email ?? '',
      external_user_id: row.externalUserId ?? '',
      sequence: index,
    })),
  );
}

export async function storeOrders(
  stores: Pick<TestStores, 'clickhouse'>,
  orders: GivenOrder[],
): Promise<void> {
  await insert(
    stores,
    'orders',
    orders.map((row) => ({
      workspace_id: row.workspaceId,
      order_id: row.orderId ?? uuidv7(),
      version: String(row.version ?? 1n),
      ts: stored(row.tsNanos ?? nextNanos()),
      visitor_id: row.visitorId ?? NO_UUID,
      other_visitor_ids: row.otherVisitorIds ?? [],
      email: row.email ?? '',
      external_user_id: row.externalUserId ?? '',
      amount_minor: row.amountMinor ?? 1_000,
      currency: row.currency ?? 'usd',
    })),
  );
}

export async function storeShares(
  stores: Pick<TestStores, 'clickhouse'>,
  orders: GivenShares[],
): Promise<void> {
  await insert(
    stores,
    'attributed_shares',
    orders.flatMap((order) => [
      ...creditRows(order, false),
      ...(order.replaces ?? []).flatMap((before) => creditRows(before, true)),
    ]),
  );
}

function creditRows(order: GivenShares, replaced: boolean): Record<string, unknown>[] {
  const orderId = order.orderId ?? uuidv7();
  const ts = stored(order.tsNanos ?? nextNanos());
  return order.parts.map((part, index) => ({
    workspace_id: order.workspaceId,
    order_id: orderId,
    version: String(order.version ?? 1n),
    part: index,
    ts,
    link_id: part.linkId,
    channel: part.channel,
    share: part.share,
    lead: part.lead ?? 0,
    ...part.columns,
    amount_minor: part.amountMinor,
    first_channel: order.firstChannel ?? '',
    ...(order.firstBioLinks && { first_bio_links: order.firstBioLinks }),
    ...(order.firstOtherChannel && { first_other_channel: order.firstOtherChannel }),
    ...(order.written && { written: order.written }),
    replaced,
  }));
}

/** Requests a bio button's deletion, and runs a worker's first step for it. */
export async function deleteWithHistory(
  { pool, clickhouse }: Pick<TestStores, 'pool' | 'clickhouse'>,
  workspaceId: string,
  linkId = NO_UUID,
): Promise<void> {
  const erased = { workspaceId, targetId: linkId };
  await requestErasure(pool, { ...erased, kind: 'link' });
  await hideLinks(clickhouse, [erased]);
}
