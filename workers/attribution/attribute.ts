import { createHash } from 'node:crypto';
import { writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { momentOf } from '../../clickhouse/copies/moments.ts';
import {
  type AttributedShareRow,
  attributedSharesBlock,
} from '../../clickhouse/inserts/attributed-shares.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { clicksBeforeOrders, origins } from '../../clickhouse/queries/clicks-before-orders.ts';
import { momentKey, type StoredShares, storedShares } from '../../clickhouse/queries/stored-shares.ts';
import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { convertMinor, MoneyError } from '../../core/money/money.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { marksOfReplicas } from '../../sql/event-log/replica-marks.ts';
import {
  type ConversionKind,
  claimUnattributed,
  markAttributed,
  recordShares,
  releaseClaims,
  type SharesToWrite,
  type Unattributed,
  type WrittenShares,
} from '../../sql/orders/unattributed.ts';
import { reportsStoredBefore } from '../../sql/orders/waiting-reports.ts';
import { lockRatesShared, type RateOf } from '../../sql/workspaces/currency-rates.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { clickOfNamedLink, originOfNamedLink } from './named-link.ts';
import { replacedShares } from './replaced-shares.ts';
import { sharesOf } from './shares.ts';
import { spansOf } from './spans.ts';

export type AttributionDependencies = {
  pool: Pool;
  readers: JobReaders;
  /** They get the shares. */
  replicas: readonly Replica[];
  metrics: WorkerMetrics;
  log: Logger;
};

const BATCH = 200;

/**
 * Attributes a batch of the orders, or of the leads, that the watermark has passed: every click that could have led to
 * them is visible then, and every identify has joined its visitors. The shares of a batch, and what they replace, are
 * one block, so an event has all of its shares or none. After a crash before the events are marked, the next run finds
 * an order's shares and only marks; a lead is written again as a new version. Shares that a killed worker sent may
 * arrive later. They were recorded before they were sent, so the next version replaces them too. An event that changes
 * meanwhile waits for the next batch.
 *
 * @returns whether more may be waiting
 */
export async function attribute(
  dependencies: AttributionDependencies,
  kind: ConversionKind,
): Promise<boolean> {
  const { pool, readers, replicas } = dependencies;
  const before = await reportsStoredBefore(pool);
  if (before === null) return false;
  const claimed = await inTransaction(pool, async (transaction) => {
    const events = await claimUnattributed(transaction, kind, before, BATCH);
    if (events.length === 0) return null;
    const readMarks = () => marksOfReplicas(transaction);
    const [stored, clickhouse] = await readers.readUpTo(
      before,
      async (clickhouse) => [await storedShares(clickhouse, events), clickhouse] as const,
      readMarks,
    );
    const storedOf = (event: Unattributed) => sharesStoredOf(event, stored.get(momentKey(event)));
    const isStored = (event: Unattributed) =>
      storedOf(event).some(({ version }) => version === event.version);
    const open = events.filter((event) => !isStored(event));
    const computed = (await sharesOfAll(dependencies, transaction, open, before)).map((attributed) => {
      const { event, rows } = attributed;
      const own = storedOf(event).filter(({ orderId }) => orderId === event.orderId);
      return { ...attributed, stored: storedOf(event), written: writtenWith(event, rows.length, own) };
    });
    // An attempt that was interrupted may have written into this replica alone.
    const isRead = (replica: Replica) => replicas.length === 1 || replica.clickhouse === clickhouse;
    const read = replicas.filter(isRead).map(({ name }) => name);
    const known = events.filter(isStored);
    await markAttributed(transaction, kind, known, { stored: read, of: known.flatMap(subjectsOf) });
    const unchanged = await recordShares(transaction, kind, computed);
    return {
      shares: computed.filter(({ event }) => unchanged.has(event.internalId)),
      mayBeMore: events.length === BATCH || computed.length < open.length,
    };
  });
  if (claimed === null) return false;
  const { shares, mayBeMore } = claimed;
  const events = shares.map(({ event }) => event);
  let stored: string[];
  try {
    stored = await insertShares(dependencies, shares);
  } catch (error) {
    const ids = events.map(({ internalId }) => internalId);
    await releaseClaims(pool, kind, ids).catch(() => {}); // the claim ends soon
    throw error;
  }
  await markAttributed(pool, kind, events, {
    stored,
    of: shares.flatMap(({ event, written }) => subjectsOf({ ...event, written })),
  });
  return mayBeMore;
}

/** Returns the moments at which an event has shares in ClickHouse, or replaced ones. */
function subjectsOf({ workspaceId, ts, streamOrdinal, written }: Unattributed) {
  return [{ ts, streamOrdinal }, ...written].map((at) => ({
    work: 'attributed_shares' as const,
    subject: momentOf(workspaceId, at.ts, at.streamOrdinal),
  }));
}

/** The rows to write for an event. */
type Attributed = SharesToWrite & { rows: AttributedShareRow[]; stored: readonly StoredShares[] };

/**
 * Returns which of the shares at an event's time belong to the event. After a restore of PostgreSQL the same identify
 * has another number, so the shares of its lead may have another order id.
 */
function sharesStoredOf(event: Unattributed, found: readonly StoredShares[] = []): StoredShares[] {
  return found.filter(({ orderId, isLead }) => (event.revenue ? orderId === event.orderId : isLead));
}

/** @returns the replicas that have the shares */
async function insertShares(
  { pool, replicas, metrics, log }: AttributionDependencies,
  shares: readonly Attributed[],
): Promise<string[]> {
  const rows = shares.flatMap(({ event, rows: own, written, stored }) => [
    ...own,
    ...replacedShares(event, own.length, written),
    ...stored
      .filter(({ orderId }) => orderId !== event.orderId)
      .flatMap(({ orderId, ...one }) => replacedShares({ ...event, orderId }, 0, [{ ...event, ...one }])),
  ]);
  if (rows.length === 0) return replicas.map(({ name }) => name);
  const block = attributedSharesBlock(rows);
  const token = tokenOf(shares.map(({ event }) => event));
  const stored = await writeToEach(
    pool,
    { replicas, log },
    {
      what: 'attributed shares',
      write: (clickhouse, signal) =>
        insertBlock(clickhouse, { table: 'attributed_shares', block, token, signal }),
    },
  );
  metrics.insertedRows.inc({ table: 'attributed_shares' }, rows.length);
  return stored;
}

/**
 * Returns every version whose shares may be in ClickHouse, with the most parts that it may have.
 *
 * @param stored versions that ClickHouse has, including those that a restored database does not know
 */
function writtenWith(
  { version, ts, streamOrdinal, written }: Unattributed,
  parts: number,
  stored: readonly Pick<WrittenShares, 'version' | 'parts'>[],
): WrittenShares[] {
  const all = new Map(written.map((one) => [one.version, one]));
  for (const { version: other, parts: most } of [...stored, { version, parts }]) {
    all.set(other, { version: other, parts: Math.max(most, all.get(other)?.parts ?? 0), ts, streamOrdinal });
  }
  return [...all.values()];
}

/**
 * @param before the watermark that has passed the events
 * @returns shares of the first events only, if all of them have too many visitors for one query
 */
async function sharesOfAll(
  dependencies: AttributionDependencies,
  transaction: Queryable,
  events: readonly Unattributed[],
  before: number,
): Promise<Omit<Attributed, 'written' | 'stored'>[]> {
  if (events.length === 0) return [];
  const { readers, metrics } = dependencies;
  const rateOf = await lockRatesShared(transaction);
  const { reached, spans } = await spansOf(transaction, events);
  const ofOrders = spans.filter(({ position }) => reached[position]?.revenue);
  const [groups, firstCame] = await readers.readUpTo(
    before,
    (clickhouse) => Promise.all([clicksBeforeOrders(clickhouse, spans), origins(clickhouse, ofOrders)]),
    () => marksOfReplicas(transaction),
  );
  const byEvent = Map.groupBy(groups, ({ position }) => position);
  return reached.map((event, position) => {
    const clicked = byEvent.get(position) ?? [];
    const named = clicked.length === 0 ? event.link : null;
    const own = named === null ? clicked : [clickOfNamedLink(named, position, event.ts)];
    const counter = event.revenue ? metrics.attributedOrders : metrics.attributedLeads;
    if (!event.isGivenUp) counter.inc({ outcome: own.length > 0 ? 'attributed' : 'no_click' });
    const converted = event.revenue && inWorkspaceCurrency(dependencies, event, event.revenue, rateOf);
    const withoutRate = event.revenue !== null && converted === null;
    const origin = firstCame.get(position) ?? (named && originOfNamedLink(named));
    const amountMinor = converted ?? 0;
    const isLead = event.revenue === null;
    const rows = event.isGivenUp ? [] : sharesOf({ order: event, groups: own, amountMinor, isLead, origin });
    return { event, rows, withoutRate };
  });
}

/** @returns null without a rate; the order is then a conversion without revenue */
function inWorkspaceCurrency(
  { metrics, log }: AttributionDependencies,
  order: Unattributed,
  { currency, workspaceCurrency, amountMinor }: NonNullable<Unattributed['revenue']>,
  rateOf: RateOf,
): number | null {
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

function tokenOf(events: readonly Unattributed[]): string {
  const hash = createHash('sha256');
  for (const { workspaceId, orderId, version } of events)
    hash.update(`${workspaceId}/${orderId}/${version} `);
  return `attributed_shares/${hash.digest('hex')}`;
}
