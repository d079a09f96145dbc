import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import {
  type AttributedShareRow,
  attributedSharesBlock,
} from '../../clickhouse/inserts/attributed-shares.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import {
  type ClickGroup,
  clicksBeforeOrders,
  origins,
} from '../../clickhouse/queries/clicks-before-orders.ts';
import { orderKey, storedShares } from '../../clickhouse/queries/stored-shares.ts';
import { convertMinor, MoneyError } from '../../core/money/money.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import {
  claimUnattributed,
  markAttributed,
  recordShares,
  releaseOrders,
  type SharesToWrite,
  type UnattributedOrder,
  type WrittenShares,
} from '../../sql/orders/unattributed-orders.ts';
import { reportsStoredBefore } from '../../sql/orders/waiting-reports.ts';
import { lockRatesShared, type RateOf } from '../../sql/workspaces/currency-rates.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { replacedShares } from './replaced-shares.ts';
import { sharesOf } from './shares.ts';
import { spansOf } from './spans.ts';

export type AttributionDependencies = {
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: WorkerMetrics;
  log: Logger;
};

const BATCH = 200;

/**
 * Attributes a batch of the orders that the watermark has passed: every click that could have led to them is visible then, and
 * every identify has joined its visitors. The shares of a batch, and what they replace, are one block, so an order has all
 * of its shares or none. After a crash before the orders are marked, the next run finds the shares and only marks. What a
 * killed worker has sent may arrive later: it was recorded before, so it is replaced unseen. An order that changes
 * meanwhile waits for the next batch.
 *
 * @returns whether more may be waiting
 */
export async function attributeOrders(dependencies: AttributionDependencies): Promise<boolean> {
  const { pool, clickhouse } = dependencies;
  const before = await reportsStoredBefore(pool);
  if (before === null) return false;
  const claimed = await inTransaction(pool, async (transaction) => {
    const orders = await claimUnattributed(transaction, before, BATCH);
    if (orders.length === 0) return null;
    const stored = await storedShares(clickhouse, orders);
    const isStored = (order: UnattributedOrder) => stored.get(orderKey(order))?.has(order.version) === true;
    const open = orders.filter((order) => !isStored(order));
    const computed = (await sharesOfAll(dependencies, transaction, open)).map((attributed) => {
      const { order, rows } = attributed;
      return { ...attributed, written: writtenWith(order, rows.length, stored.get(orderKey(order))) };
    });
    await markAttributed(transaction, orders.filter(isStored));
    const unchanged = await recordShares(transaction, computed);
    return {
      shares: computed.filter(({ order }) => unchanged.has(order.internalId)),
      mayBeMore: orders.length === BATCH || computed.length < open.length,
    };
  });
  if (claimed === null) return false;
  const { shares, mayBeMore } = claimed;
  const orders = shares.map(({ order }) => order);
  try {
    await insertShares(dependencies, shares);
  } catch (error) {
    await releaseOrders(
      pool,
      orders.map(({ internalId }) => internalId),
    ).catch(() => {}); // the claim ends soon
    throw error;
  }
  await markAttributed(pool, orders);
  return mayBeMore;
}

/** What is to be written for an order. */
type Attributed = SharesToWrite & { rows: AttributedShareRow[] };

async function insertShares(
  { clickhouse, metrics }: AttributionDependencies,
  shares: readonly Attributed[],
): Promise<void> {
  if (shares.length === 0) return;
  const rows = shares.flatMap(({ order, rows: own, written }) => [
    ...own,
    ...replacedShares(order, own.length, written),
  ]);
  if (rows.length === 0) return;
  await insertBlock(clickhouse, {
    table: 'attributed_shares',
    block: attributedSharesBlock(rows),
    token: tokenOf(shares.map(({ order }) => order)),
  });
  metrics.insertedRows.inc({ table: 'attributed_shares' }, rows.length);
}

/**
 * Every version whose shares may be in ClickHouse, with the most parts that it may have.
 *
 * @param stored parts of the versions that ClickHouse has: also those that a restored database does not know
 */
function writtenWith(
  { version, ts, streamOrdinal, written }: UnattributedOrder,
  parts: number,
  stored: ReadonlyMap<number, number> = new Map(),
): WrittenShares[] {
  const all = new Map(written.map((one) => [one.version, one]));
  for (const [other, most] of [...stored, [version, parts] as const]) {
    all.set(other, { version: other, parts: Math.max(most, all.get(other)?.parts ?? 0), ts, streamOrdinal });
  }
  return [...all.values()];
}

/** @returns shares of the first orders only, where all of them have too many visitors for one query */
async function sharesOfAll(
  dependencies: AttributionDependencies,
  transaction: Queryable,
  orders: readonly UnattributedOrder[],
): Promise<Omit<Attributed, 'written'>[]> {
  if (orders.length === 0) return [];
  const { clickhouse, metrics } = dependencies;
  const rateOf = await lockRatesShared(transaction);
  const { reached, spans } = await spansOf(transaction, orders);
  const [groups, firstCame] = await Promise.all([
    clicksBeforeOrders(clickhouse, spans),
    origins(clickhouse, spans),
  ]);
  const byOrder = Map.groupBy(groups, (group: ClickGroup) => group.position);
  return reached.map((order, position) => {
    const own = byOrder.get(position) ?? [];
    metrics.attributedOrders.inc({ outcome: own.length > 0 ? 'attributed' : 'no_click' });
    const converted = inWorkspaceCurrency(dependencies, order, rateOf);
    const origin = firstCame.get(position) ?? null;
    const rows = order.isGivenUp ? [] : sharesOf({ order, groups: own, amountMinor: converted ?? 0, origin });
    return { order, rows, withoutRate: converted === null };
  });
}

/** @returns null without a rate; the order is then a conversion without revenue */
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
    // An unknown currency or an amount out of range must not stop the others.
    if (!(error instanceof MoneyError)) throw error;
    log.error(
      { err: error, order: order.internalId },
      'failed to convert the amount of an order; it counts without revenue',
    );
    metrics.ordersWithoutRate.inc({ currency });
    return 0;
  }
}

function tokenOf(orders: readonly UnattributedOrder[]): string {
  const hash = createHash('sha256');
  for (const { internalId, version } of orders) hash.update(`${internalId}/${version} `);
  return `attributed_shares/${hash.digest('hex')}`;
}
