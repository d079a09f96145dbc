import { type NewAuditEntry, recordAudit } from '../audit/audit-log.ts';
import type { Queryable } from '../database/pool.ts';
import type { PaymentContext } from './payment-buyer.ts';

/** What an event of a billing provider can change that was recorded before. */
export type ProviderAction = 'purchase.correct' | 'refund.record' | 'refund.give_back' | 'customer.tie';

/**
 * Leaves an audit entry for what an event of a billing provider changed. Nothing where no event did: members and keys leave
 * their own.
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
