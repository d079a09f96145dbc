import type { Queryable } from '../database/pool.ts';

/**
 * Reschedules payments that events may still change and whose buyer was named after them: by a signup, by a manual
 * report, or by a server's report of their email or visitor. So the code that names a buyer needs no payments, and
 * takes none of their locks.
 */
export async function settleNamed(db: Queryable, since: Date): Promise<void> {
  // Skips locked payments, which are being settled. If they still wait afterwards, the next call finds them.
  await db.query(
    `UPDATE connection_payments SET due_at = clock_timestamp() WHERE id IN (
       SELECT p.id FROM connection_payments p
       WHERE p.status = 'unmatched' AND p.order_internal_id IS NOT NULL AND p.created_at > $1 AND p.due_at IS NULL
         AND (p.reason IN ('no_buyer', 'unknown_buyer') OR p.reason LIKE 'unknown\\_code: %')
         AND (EXISTS (SELECT FROM purchases b
                      WHERE b.order_internal_id = p.order_internal_id AND b.enrollment_id IS NOT NULL)
           OR EXISTS (SELECT FROM unmatched_orders u JOIN identities i ON i.workspace_id = u.workspace_id
                        AND (i.email = u.email OR i.visitor_id = u.visitor_id)
                      JOIN signups s ON s.workspace_id = i.workspace_id AND s.external_user_id = i.server_user_id
                      WHERE u.order_internal_id = p.order_internal_id))
         AND EXISTS (SELECT FROM connections c
                     WHERE c.workspace_id = p.workspace_id AND c.provider = p.provider AND c.deleted_at IS NULL)
       FOR NO KEY UPDATE OF p SKIP LOCKED)`,
    [since],
  );
}
