import { type NewAuditEntry, recordAudit } from '../sql/audit/audit-log.ts';
import type { Queryable } from '../sql/database/pool.ts';

/** Appends an entry of the operator to a workspace's audit log. */
export function recordOperator(db: Queryable, entry: Omit<NewAuditEntry, 'actor'>): Promise<void> {
  return recordAudit(db, { ...entry, actor: { type: 'operator', id: null } });
}
