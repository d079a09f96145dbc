import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { type OrderCreditRow, orderCreditBlock } from '../../clickhouse/inserts/order-credits.ts';
import {
  type ClickGroup,
  type ClickSpan,
  clicksBeforeOrders,
  firstChannels,
} from '../../clickhouse/questions/clicks-before-orders.ts';
import { creditedVersions, versionKey } from '../../clickhouse/questions/credited-versions.ts';
import type { Logger } from '../../core/log.ts';
import { convertMinor, MoneyError } from '../../core/money.ts';
import { type RateOf, readRates } from '../../sql/currency-rates.ts';
import { visitorsOfBuyers } from '../../sql/identities.ts';
import { claimUnattributed, markAttributed, type UnattributedOrder } from '../../sql/orders.ts';
import { inTransaction, type Pool, type PoolClient } from '../../sql/pool.ts';
import { watermark } from '../../sql/streams.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { creditsOf } from './credits.ts';

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
 * visible then, and every identify has joined its visitors. The credits of a batch are one block, so an order's
 * stand in full or not at all; a crash before the orders are marked finds them there and only marks.
 *
 * @returns whether more may be waiting
 */
export async function attributeOrders(dependencies: AttributionDependencies): Promise<boolean> {
  const { pool, clickhouse, metrics } = dependencies;
  const before = await watermark(pool);
  if (before === null) return false;
  return inTransaction(pool, async (transaction) => {
    const orders = await claimUnattributed(transaction, before, BATCH);
    if (orders.length === 0) return false;
    const credited = await creditedVersions(clickhouse, orders);
    const open = orders.filter((order) => !credited.has(versionKey(order)));
    const rows = await creditsOfAll(dependencies, transaction, open);
    if (rows.length > 0) {
      await insertBlock(clickhouse, {
        table: 'order_credits',
        block: orderCreditBlock(rows),
        token: tokenOf(open),
      });
      metrics.insertedRows.inc({ table: 'order_credits' }, rows.length);
    }
    await markAttributed(transaction, orders);
    return orders.length === BATCH;
  });
}

async function creditsOfAll(
  dependencies: AttributionDependencies,
  transaction: PoolClient,
  orders: readonly UnattributedOrder[],
): Promise<OrderCreditRow[]> {
  if (orders.length === 0) return [];
  const { clickhouse, metrics } = dependencies;
  const rateOf = await readRates(transaction);
  const visitors = await visitorsOfBuyers(transaction, orders);
  const spans = orders.flatMap((order, position) =>
    (visitors[position] ?? []).map((visitorId): ClickSpan => {
      const from = order.ts - order.window * MICROS_PER_DAY;
      return { position, workspaceId: order.workspaceId, visitorId, from, to: order.ts };
    }),
  );
  const [groups, channels] = await Promise.all([
    clicksBeforeOrders(clickhouse, spans),
    firstChannels(clickhouse, spans),
  ]);
  const byOrder = Map.groupBy(groups, (group: ClickGroup) => group.position);
  return orders.flatMap((order, position) => {
    const own = byOrder.get(position) ?? [];
    metrics.attributedOrders.inc({ outcome: own.length > 0 ? 'credited' : 'no_click' });
    const amountMinor = inWorkspaceCurrency(dependencies, order, rateOf);
    return creditsOf({ order, groups: own, amountMinor, firstChannel: channels.get(position) ?? '' });
  });
}

/** Without a rate an order counts as a conversion without revenue. */
function inWorkspaceCurrency(
  { metrics, log }: AttributionDependencies,
  order: UnattributedOrder,
  rateOf: RateOf,
): number {
  const { currency, workspaceCurrency, amountMinor } = order;
  if (currency === workspaceCurrency) return amountMinor;
  const rate = rateOf(currency, workspaceCurrency);
  if (rate !== null) {
    try {
      return convertMinor(amountMinor, currency, workspaceCurrency, rate);
    } catch (error) {
      // An unknown currency or an amount beyond what numbers hold must not stop the others.
      if (!(error instanceof MoneyError)) throw error;
      log.error({ err: error, order: order.internalId }, 'the amount of an order can not be converted');
    }
  }
  metrics.ordersWithoutRate.inc({ currency });
  return 0;
}

function tokenOf(orders: readonly UnattributedOrder[]): string {
  const hash = createHash('sha256');
  for (const { internalId, version } of orders) hash.update(`${internalId}/${version} `);
  return `order_credits/${hash.digest('hex')}`;
}
