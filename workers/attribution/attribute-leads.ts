import { createHash } from 'node:crypto';
import { attributedSharesBlock } from '../../clickhouse/inserts/attributed-shares.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { clicksBeforeOrders } from '../../clickhouse/queries/clicks-before-orders.ts';
import { leadKey, type StoredLead, storedLeads } from '../../clickhouse/queries/stored-shares.ts';
import { inTransaction, type Queryable } from '../../sql/database/pool.ts';
import {
  claimLeads,
  dropLeads,
  markLeadsAttributed,
  recordLeadShares,
  releaseLeads,
  type WaitingLead,
} from '../../sql/orders/leads.ts';
import type { WrittenShares } from '../../sql/orders/unattributed-orders.ts';
import { reportsStoredBefore } from '../../sql/orders/waiting-reports.ts';
import type { AttributionDependencies } from './attribute.ts';
import { replacedShares } from './replaced-shares.ts';
import { type AttributedEvent, sharesOf } from './shares.ts';
import { spansOf } from './spans.ts';

const BATCH = 200;

/**
 * Attributes a batch of the leads that the watermark has passed, as orders are attributed, and removes the identifies that are not
 * the first of their person. Each attempt writes a version of its own and replaces those of earlier attempts, whose rows may be in
 * ClickHouse or still arrive: so a lead counts once, whenever a worker is killed. It also replaces what ClickHouse has of the same
 * identify, which PostgreSQL does not know where it has gone back.
 *
 * @returns whether more may be waiting
 */
export async function attributeLeads(dependencies: AttributionDependencies): Promise<boolean> {
  const { pool, metrics } = dependencies;
  const before = await reportsStoredBefore(pool);
  if (before === null) return false;
  const claim = await inTransaction(pool, async (transaction) => {
    const claimed = await claimLeads(transaction, before, BATCH);
    if (claimed.length === 0) return null;
    const known = claimed.filter(({ isKnown }) => isKnown);
    const first = claimed.filter(({ isKnown }) => !isKnown);
    const attributed = [
      ...(await sharesOfLeads(dependencies, transaction, first)),
      // A version of an earlier attempt, which did not know the person yet.
      ...known.filter(({ written }) => written.length > 0).map((lead) => versionOf(lead, [])),
    ];
    await dropLeads(transaction, idsOf(known.filter(({ written }) => written.length === 0)));
    const unchanged = await recordLeadShares(transaction, attributed);
    return {
      shares: attributed.filter(({ lead }) => unchanged.has(lead.internalId)),
      mayBeMore: claimed.length === BATCH || attributed.length < first.length,
    };
  });
  if (claim === null) return false;
  const { shares, mayBeMore } = claim;
  const leads = shares.map(({ lead }) => lead);
  try {
    await insertShares(dependencies, shares);
  } catch (error) {
    await releaseLeads(pool, idsOf(leads)).catch(() => {}); // the claim ends soon
    throw error;
  }
  await markLeadsAttributed(pool, idsOf(leads.filter(({ isKnown }) => !isKnown)));
  await dropLeads(pool, idsOf(leads.filter(({ isKnown }) => isKnown)));
  for (const { rows: own, lead } of shares) {
    if (lead.isKnown) continue;
    metrics.attributedLeads.inc({ outcome: own.length > 0 ? 'attributed' : 'no_click' });
  }
  return mayBeMore;
}

const idsOf = (leads: readonly WaitingLead[]) => leads.map(({ internalId }) => internalId);

async function insertShares(
  { clickhouse, metrics }: AttributionDependencies,
  shares: readonly Attributed[],
): Promise<void> {
  const stored = await storedLeads(
    clickhouse,
    shares.map(({ lead }) => lead),
  );
  const rows = shares.flatMap(({ lead, event, rows: own, written }) => [
    ...own,
    ...replacedShares(event, own.length, written),
    ...(stored.get(leadKey(lead)) ?? []).flatMap((found) => replacedLead(event, found)),
  ]);
  if (rows.length === 0) return;
  await insertBlock(clickhouse, {
    table: 'attributed_shares',
    block: attributedSharesBlock(rows),
    token: tokenOf(shares.map(({ event }) => event)),
  });
  metrics.insertedRows.inc({ table: 'attributed_shares' }, rows.length);
}

/** Returns the rows that replace a version of the lead which PostgreSQL may not know. */
function replacedLead(event: AttributedEvent, { orderId, version, parts }: StoredLead) {
  const { ts, streamOrdinal } = event;
  return replacedShares({ ...event, orderId }, 0, [{ version, parts, ts, streamOrdinal }]);
}

type Attributed = {
  lead: WaitingLead;
  event: AttributedEvent;
  rows: ReturnType<typeof sharesOf>;
  written: WrittenShares[];
};

/** @returns shares of the first leads only, where all of them have too many visitors for one query */
async function sharesOfLeads(
  { clickhouse }: AttributionDependencies,
  transaction: Queryable,
  leads: readonly WaitingLead[],
): Promise<Attributed[]> {
  if (leads.length === 0) return [];
  const { reached, spans } = await spansOf(transaction, leads);
  const byLead = Map.groupBy(await clicksBeforeOrders(clickhouse, spans), ({ position }) => position);
  return reached.map((lead, position) => versionOf(lead, byLead.get(position) ?? []));
}

/** Returns a new version of a lead's shares, and which versions may be in ClickHouse with it. */
function versionOf(lead: WaitingLead, groups: Parameters<typeof sharesOf>[0]['groups']): Attributed {
  const { internalId, ts, streamOrdinal } = lead;
  const version = lead.written.reduce((most, one) => Math.max(most, one.version + 1), Date.now() * 1_000);
  const event = { ...lead, orderId: `lead:${internalId}`, version };
  const rows = lead.isKnown
    ? []
    : sharesOf({ order: event, groups, amountMinor: 0, origin: null, isLead: true });
  return {
    lead,
    event,
    rows,
    written: [...lead.written, { version, parts: rows.length, ts, streamOrdinal }],
  };
}

function tokenOf(events: readonly AttributedEvent[]): string {
  const hash = createHash('sha256');
  for (const { orderId, version } of events) hash.update(`${orderId}/${version} `);
  return `attributed_shares/${hash.digest('hex')}`;
}
