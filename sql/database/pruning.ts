import type { Queryable } from './pool.ts';

/** Tables whose rows are deleted past an age. */
const PRUNED = {
  // Ingest reads changes within a second; a process that was stopped for longer loads the whole table.
  link_changes: { column: 'made_at', age: '1 day' },
  // The contract: idempotency keys expire after 24 hours.
  idempotency_keys: { column: 'created_at', age: '24 hours' },
  publishable_uses: { column: 'hour', age: '1 day' },
  write_previews: { column: 'expires_at', age: '1 hour' },
  // Left by requests whose process died.
  idempotency_reservations: { column: 'ends_at', age: '1 minute' },
  // Refunds of orders that were never reported.
  early_refunds: { column: 'reported_at', age: '30 days' },
  // A purchase may be dated a day ahead, and is open to its buyer's signup for 72 hours.
  unmatched_orders: { column: 'created_at', age: '4 days' },
  // The contract: events of billing providers are kept 30 days.
  connection_events: { column: 'received_at', age: '30 days' },
  // Shown ones are fetched again after a week. An icon outlives the pages that have it.
  destination_pages: { column: 'wanted_at', age: '30 days' },
  destination_icons: { column: 'used_at', age: '60 days' },
  // Pending ones have failed long before.
  mails: { column: 'created_at', age: '30 days' },
  alert_changes: { column: 'at', age: '400 days' },
  chat_messages: { column: 'created_at', age: '30 days' },
  // Console rows that have ended, with a margin.
  sessions: { column: 'last_seen_at', age: '15 days' },
  invites: { column: 'expires_at', age: '1 day' },
  password_resets: { column: 'expires_at', age: '1 day' },
  // Settled long before.
  affiliate_notices: { column: 'created_at', age: '30 days' },
  spent_challenges: { column: 'spent_at', age: '1 day' },
  portal_sign_ins: { column: 'expires_at', age: '1 day' },
  portal_sessions: { column: 'last_seen_at', age: '15 days' },
  passkey_challenges: { column: 'expires_at', age: '1 hour' },
  sign_in_attempts: { column: 'touched_at', age: '1 hour' },
  // As long as the cookie of a right password.
  password_visitors: { column: 'let_in_at', age: '90 days' },
} as const;

export type PrunedTable = keyof typeof PRUNED | 'audit_entries';
export const PRUNED_TABLES = [...Object.keys(PRUNED), 'audit_entries'] as PrunedTable[];

/** Deletes up to `limit` rows that are past their age. Returns the number deleted. */
export async function prune(db: Queryable, table: PrunedTable, limit: number): Promise<number> {
  if (table === 'audit_entries') {
    const { rows } = await db.query<{ removed: number }>('SELECT delete_old_audit_entries($1) AS removed', [
      limit,
    ]);
    return rows[0]?.removed ?? 0;
  }
  const { column, age } = PRUNED[table];
  const { rowCount } = await db.query(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM ${table} WHERE ${column} < now() - interval '${age}' LIMIT $1))`,
    [limit],
  );
  return rowCount ?? 0;
}
