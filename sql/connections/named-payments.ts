import type { Queryable } from '../database/pool.ts';

/**
 * Has the payments looked at soon that events may still change, and whose buyer was named after them: by a signup, by a
 * report by hand, or by what a server said of their email or visitor. Whoever named the buyer need not know of payments,
 * and takes none of their locks.
 */
export async function settleNamed(db: Queryable, since: Date): Promise<void> {
  // Locked payments are being settled. Those that still wait afterwards are found by the next call.
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
