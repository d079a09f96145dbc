import type { IdentifyRow } from '../../clickhouse/inserts/identifies.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { IdentityReport } from '../../sql/orders/identities.ts';
import type { JoinedVisitors } from '../../sql/orders/joined-visitors.ts';
import type { LeadReport } from '../../sql/orders/leads.ts';
import type { OrderReport } from '../../sql/orders/orders.ts';
import type { Prepared, PreparedOrder } from './prepare.ts';

/**
 * Returns what PostgreSQL stores of an identify, for each id of its browser: nothing without a visitor, or without an
 * email and a user.
 */
export function identityOf(row: IdentifyRow): { row: IdentifyRow; report: IdentityReport }[] {
  const { workspaceId, visitorId, otherVisitorIds = [], email, externalUserId, source, ts } = row.event;
  if (!visitorId || (!email && !externalUserId)) return [];
  const report = {
    workspaceId: bytesToUuid(workspaceId),
    email: email || null,
    externalUserId: externalUserId || null,
    byServer: source === 'server',
    ts,
  };
  return [visitorId, ...otherVisitorIds].map((id) => ({
    row,
    report: { ...report, visitorId: bytesToUuid(id) },
  }));
}

/** Returns an identify as the lead that it may be: nothing where {@link identityOf} returns nothing. */
export function leadOf(row: IdentifyRow): LeadReport[] {
  const [first, ...others] = identityOf(row).map(({ report }) => report);
  if (!first) return [];
  const { byServer: _, ...report } = first;
  return [
    { ...report, otherVisitorIds: others.map(({ visitorId }) => visitorId), streamOrdinal: row.ordinal },
  ];
}

/** Returns what PostgreSQL stores of an order. */
export function orderOf(row: PreparedOrder): { row: PreparedOrder; report: OrderReport } {
  const { event, ordinal } = row;
  const report = {
    workspaceId: bytesToUuid(event.workspaceId),
    orderId: event.orderId,
    source: event.source,
    ts: event.ts,
    streamOrdinal: ordinal,
    visitorId: event.visitorId && bytesToUuid(event.visitorId),
    otherVisitorIds: (event.otherVisitorIds ?? []).map((id) => bytesToUuid(id)),
    email: event.email,
    externalUserId: event.externalUserId,
    amountMinor: event.amountMinor,
    currency: event.currency,
    commissionableMinor: event.commissionableMinor,
    isRenewal: event.isRenewal,
  };
  return { row, report };
}

/** Returns the visitors that identifies and orders named together. */
export function joinsOf({ identifies, orders }: Pick<Prepared, 'identifies' | 'orders'>): JoinedVisitors[] {
  return [...identifies, ...orders].flatMap(
    ({ event: { workspaceId, visitorId, otherVisitorIds = [], ts } }) =>
      visitorId && otherVisitorIds.length > 0
        ? [
            {
              workspaceId: bytesToUuid(workspaceId),
              visitorIds: [visitorId, ...otherVisitorIds].map((id) => bytesToUuid(id)),
              ts,
            },
          ]
        : [],
  );
}
