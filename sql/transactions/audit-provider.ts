import { type NewAuditEntry, recordAudit } from '../audit/audit-log.ts';
import type { Queryable } from '../database/pool.ts';
import type { PaymentContext } from './payment-buyer.ts';

/** Changes of recorded facts that an event of a billing provider can cause. */
export type ProviderAction = 'purchase.correct' | 'refund.record' | 'refund.give_back' | 'customer.tie';

/**
 * Records an audit entry for a change by an event of a billing provider. It records nothing without an event, because
 * changes by members and keys have their own entries.
 */
export async function auditProvider(
  tx: Queryable,
  { workspace, connection, eventId }: Pick<PaymentContext, 'workspace' | 'connection' | 'eventId'>,
  action: ProviderAction,
  details: NonNullable<NewAuditEntry['details']>,
): Promise<void> {
  if (eventId === null) return;
  await recordAudit(tx, {
    workspaceId: workspace.id,
    actor: { type: 'provider', id: connection.id },
    action,
    target: { type: 'connection', id: connection.id },
    details: { ...details, event_id: eventId },
  });
}
