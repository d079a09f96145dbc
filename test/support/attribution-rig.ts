import { Registry } from 'prom-client';
import { hideLinks } from '../../clickhouse/erasures.ts';
import { type ClickRow, clickBlock } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import type { EventSource } from '../../core/events/types.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { advanceStreams, registerStream } from '../../sql/event-log/streams.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { joinVisitors } from '../../sql/orders/joined-visitors.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { type AttributionDependencies, attribute } from '../../workers/attribution/attribute.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { enrichedClick } from './enriched-click.ts';
import { testStores } from './stores.ts';

export const DAY = 86_400_000_000;
export const NOW = Date.UTC(2026, 10, 20) * 1000;
/** Used in attributed shares without a link. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

export type Reported = {
  ts: number;
  visitor?: string;
  /** Earlier ids of the same browser. */
  others?: readonly string[];
  email?: string;
  amount?: number;
  currency?: string;
  source?: EventSource;
  orderId?: string;
  user?: string;
};

/** Databases whose watermark is at {@link NOW}, for tests of attribution. */
export async function createAttributionRig() {
  const stores = await testStores({ isPooled: true });
  const { pool, clickhouse, readers, replicas } = stores;
  const metrics = createWorkerMetrics(new Registry());
  const dependencies: AttributionDependencies = { pool, readers, replicas, metrics, log: silentLogger() };
  const stream = await registerStream(pool, 'ingest-0');
  await advanceStreams(pool, [{ ...stream, highWater: 0n, visibleBefore: NOW }]);
  let workspaceId = '';
  let sequence = 0n;
  let orders = 0;

  async function click(given: {
    visitor: string;
    link: string;
    ts: number;
    channel?: string;
    bot?: boolean;
  }): Promise<void> {
    const channel = given.channel ?? 'twitter';
    const row: ClickRow = {
      event: clickKey({
        ts: given.ts,
        workspaceId: uuidToBytes(workspaceId),
        linkId: uuidToBytes(given.link),
        visitorId: uuidToBytes(given.visitor),
      }),
      enriched: enrichedClick({
        agent: { browser: 'Chrome', os: 'Linux' },
        isBot: given.bot ?? false,
        channel,
      }),
      ordinal: 0,
      sequence: sequence++,
    };
    await insertBlock(stores.clickhouse, {
      table: 'clicks',
      block: clickBlock([row]),
      token: `t${sequence}`,
    });
  }
  async function order(given: Reported): Promise<string> {
    const orderId = given.orderId ?? `order-${orders++}`;
    const source = given.source ?? 'pixel';
    await upsertOrders(stores.pool, [
      {
        workspaceId,
        orderId,
        source,
        ts: given.ts,
        streamOrdinal: 0,
        visitorId: given.visitor ?? null,
        otherVisitorIds: given.others ?? [],
        email: given.email ?? null,
        externalUserId: given.user ?? null,
        amountMinor: given.amount ?? 1000,
        currency: given.currency ?? 'usd',
      },
    ]);
    return orderId;
  }
  async function identify(visitorId: string, email: string): Promise<void> {
    await upsertIdentities(stores.pool, [
      { workspaceId, visitorId, email, externalUserId: null, byServer: false, ts: 1 },
    ]);
  }
  const join = (...visitorIds: string[]) => joinVisitors(stores.pool, [{ workspaceId, visitorIds, ts: 1 }]);
  async function credits(orderId: string) {
    await attribute(dependencies, 'orders');
    const result = await stores.clickhouse.query({
      query: `SELECT link_id, channel, toInt64(amount_minor) AS amount, share, first_channel
        FROM attributed_shares FINAL WHERE workspace_id = {workspace:UUID} AND order_id = {order:String}
          AND NOT replaced ORDER BY version, part`,
      query_params: { workspace: workspaceId, order: orderId },
      format: 'JSONEachRow',
    });
    return (
      await result.json<{ link_id: string; channel: string; amount: string; first_channel: string }>()
    ).map((row) => ({ ...row, amount: Number(row.amount) }));
  }

  return {
    stores,
    dependencies,
    get workspaceId() {
      return workspaceId;
    },
    /** The following functions work on a workspace of their own. */
    async newWorkspace(): Promise<void> {
      workspaceId = (await createWorkspace(pool, { name: 'Shop', plan: 'pro' })).id;
    },
    click,
    order,
    identify,
    join,
    credits,
    hide: (targetId: string) => hideLinks(clickhouse, [{ workspaceId, targetId }]),
    close: () => stores.close(),
  };
}

export type AttributionRig = Awaited<ReturnType<typeof createAttributionRig>>;
