import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import {
  type AttributedShareRow,
  attributedSharesBlock,
} from '../../clickhouse/inserts/attributed-shares.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import {
  type ClickGroup,
  type ClickSpan,
  clicksBeforeOrders,
  origins,
} from '../../clickhouse/queries/clicks-before-orders.ts';
import { type OrderVersion, storedShares, versionKey } from '../../clickhouse/queries/stored-shares.ts';
import { convertMinor, MoneyError } from '../../core/money/money.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/database/pool.ts';
import { watermark } from '../../sql/event-log/streams.ts';
import { visitorsOfBuyers } from '../../sql/orders/identities.ts';
import {
  claimUnattributed,
  markAttributed,
  type NotedCredits,
  noteCredits,
  type UnattributedOrder,
} from '../../sql/orders/unattributed-orders.ts';
import { lockRatesShared, type RateOf } from '../../sql/workspaces/currency-rates.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { creditsOf } from './credits.ts';
import { replacedCredits } from './replaced-credits.ts';

export type AttributionDependencies = {
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: WorkerMetrics;
  log: Logger;
};

const BATCH = 200;
const MICROS_PER_DAY = 86_400_000_000;

/**
 * Attributes a batch of the orders that the watermark has passed: every click that could have led to them is
 * visible then, and every identify has joined its visitors. The credits of a batch, and what they replace, are one block, so
 * an order's stand in full or not at all; a crash before the orders are marked finds them there and only marks. What a
 * killed worker has sent may arrive behind this: it was noted before, so it is replaced unseen. An order that was reported again
 * meanwhile waits for the next batch.
 *
 * @returns whether more may be waiting
 */
export async function attributeOrders(dependencies: AttributionDependencies): Promise<boolean> {
  const { pool, clickhouse } = dependencies;
  const before = await watermark(pool);
  if (before === null) return false;
  return inTransaction(pool, async (transaction) => {
    const orders = await claimUnattributed(transaction, before, BATCH);
    if (orders.length === 0) return false;
    const stored = await storedShares(clickhouse, orders.flatMap(versionsInDoubt));
    const isStored = (order: UnattributedOrder) => stored.has(versionKey(order));
    const open = orders.filter((order) => !isStored(order));
    const computed = (await creditsOfAll(dependencies, transaction, open)).map((credited) => ({
      ...credited,
      noted: notedParts(credited.order, credited.rows.length, stored),
    }));
    // By itself: it must outlast this transaction.
    const unchanged = await noteCredits(pool, computed);
    const credits = computed.filter(({ order }) => unchanged.has(order.internalId));
    await insertCredits(dependencies, credits);
    await markAttributed(transaction, [...orders.filter(isStored), ...credits.map(({ order }) => order)]);
    return orders.length === BATCH || computed.length < open.length;
  });
}

/** What is to be written for an order. */
type Credited = NotedCredits & { rows: AttributedShareRow[] };

async function insertCredits(
  { clickhouse, metrics }: AttributionDependencies,
  credits: readonly Credited[],
): Promise<void> {
  if (credits.length === 0) return;
  const rows = credits.flatMap(({ order, rows: own, noted }) => [
    ...own,
    ...replacedCredits(order, own.length, noted),
  ]);
  await insertBlock(clickhouse, {
    table: 'attributed_shares',
    block: attributedSharesBlock(rows),
    token: tokenOf(credits.map(({ order }) => order)),
  });
  metrics.insertedRows.inc({ table: 'attributed_shares' }, rows.length);
}

/** The present version, and those of which nobody noted how many parts they have. */
function versionsInDoubt(order: UnattributedOrder): OrderVersion[] {
  const { workspaceId, orderId, version, noted } = order;
  const unknown = [...noted.keys()].filter((other) => other !== version && noted.get(other) === null);
  return [version, ...unknown].map((one) => ({ workspaceId, orderId, version: one }));
}

/** Every version of the order whose credits may stand, with the most parts that it may have. */
function notedParts(
  order: UnattributedOrder,
  parts: number,
  stored: ReadonlyMap<string, number>,
): Map<bigint, number> {
  const all = new Map<bigint, number>();
  for (const [version, most] of order.noted) {
    all.set(version, most ?? stored.get(versionKey({ ...order, version })) ?? 0);
  }
  return all.set(order.version, Math.max(parts, all.get(order.version) ?? 0));
}

/** @returns of the first orders, where all of them have too many visitors to be worked out together */
async function creditsOfAll(
  dependencies: AttributionDependencies,
  transaction: PoolClient,
  orders: readonly UnattributedOrder[],
): Promise<Omit<Credited, 'noted'>[]> {
  if (orders.length === 0) return [];
  const { clickhouse, metrics } = dependencies;
  const rateOf = await lockRatesShared(transaction);
  const visitors = await visitorsOfBuyers(transaction, orders);
  const reached = orders.slice(0, visitors.length);
  const spans = reached.flatMap((order, position) =>
    (visitors[position] ?? []).map((visitorId): ClickSpan => {
      const from = order.ts - order.window * MICROS_PER_DAY;
      return { position, workspaceId: order.workspaceId, visitorId, from, to: order.ts };
    }),
  );
  const [groups, firstCame] = await Promise.all([
    clicksBeforeOrders(clickhouse, spans),
    origins(clickhouse, spans),
  ]);
  const byOrder = Map.groupBy(groups, (group: ClickGroup) => group.position);
  return reached.map((order, position) => {
    const own = byOrder.get(position) ?? [];
    metrics.attributedOrders.inc({ outcome: own.length > 0 ? 'credited' : 'no_click' });
    const converted = inWorkspaceCurrency(dependencies, order, rateOf);
    const origin = firstCame.get(position) ?? null;
    const rows = creditsOf({ order, groups: own, amountMinor: converted ?? 0, origin });
    return { order, rows, withoutRate: converted === null };
  });
}

/** @returns null without a rate: the order counts as a conversion without revenue */
function inWorkspaceCurrency(
  { metrics, log }: AttributionDependencies,
  order: UnattributedOrder,
  rateOf: RateOf,
): number | null {
  const { currency, workspaceCurrency, amountMinor } = order;
  if (currency === workspaceCurrency) return amountMinor;
  const rate = rateOf(currency, workspaceCurrency);
  if (rate === null) {
    metrics.ordersWithoutRate.inc({ currency });
    return null;
  }
  try {
    return convertMinor(amountMinor, currency, workspaceCurrency, rate);
  } catch (error) {
    // An unknown currency or an amount beyond what numbers hold must not stop the others.
    if (!(error instanceof MoneyError)) throw error;
    log.error({ err: error, order: order.internalId }, 'the amount of an order can not be converted');
    metrics.ordersWithoutRate.inc({ currency });
    return 0;
  }
}

function tokenOf(orders: readonly UnattributedOrder[]): string {
  const hash = createHash('sha256');
  for (const { internalId, version } of orders) hash.update(`${internalId}/${version} `);
  return `order_credits/${hash.digest('hex')}`;
}
