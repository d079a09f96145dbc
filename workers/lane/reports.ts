import type { IdentifyRow } from '../../clickhouse/inserts/identifies.ts';
import { bytesToUuid } from '../../core/ids.ts';
import type { IdentityReport } from '../../sql/orders/identities.ts';
import type { OrderReport } from '../../sql/orders/orders.ts';
import type { PreparedOrder } from './prepare.ts';

/** Returns what PostgreSQL stores of an identify: nothing without a visitor, or without an email and a user. */
export function identityOf(row: IdentifyRow): { row: IdentifyRow; report: IdentityReport }[] {
  const { workspaceId, visitorId, email, externalUserId, source, ts } = row.event;
  if (!visitorId || (!email && !externalUserId)) return [];
  const report = {
    workspaceId: bytesToUuid(workspaceId),
    visitorId: bytesToUuid(visitorId),
    email: email || null,
    externalUserId: externalUserId || null,
    byServer: source === 'server',
    ts,
  };
  return [{ row, report }];
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
    email: event.email,
    externalUserId: event.externalUserId,
    amountMinor: event.amountMinor,
    currency: event.currency,
    commissionableMinor: event.commissionableMinor,
    isRenewal: event.isRenewal,
  };
  return { row, report };
}
