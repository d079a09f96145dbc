import type { Queryable } from './pool.ts';
import { noteWebhookChange } from './webhooks.ts';

/**
 * Notes that attempts on these webhooks failed, and disables those that have only failed for `afterMs`.
 *
 * @param now milliseconds since the epoch
 * @returns ids of the webhooks disabled now
 */
export async function noteFailing(
  tx: Queryable,
  webhookIds: readonly string[],
  now: number,
  afterMs: number,
): Promise<string[]> {
  if (webhookIds.length === 0) return [];
  const ids = webhookIds.toSorted();
  // Most of them are known to fail: then nothing is written.
  await tx.query(
    `UPDATE webhooks SET failing_since = to_timestamp($2::float8 / 1000)
     WHERE id = ANY ($1) AND failing_since IS NULL AND is_active`,
    [ids, now],
  );
  const { rows } = await tx.query<{ id: string }>(
    `UPDATE webhooks SET is_active = false, disabled_at = to_timestamp($2::float8 / 1000), updated_at = clock_timestamp()
     WHERE id = ANY ($1) AND is_active AND failing_since <= to_timestamp(($2::float8 - $3) / 1000) RETURNING id`,
    [ids, now, afterMs],
  );
  if (rows.length > 0) await noteWebhookChange(tx);
  return rows.map((row) => row.id);
}

/** Notes that these webhooks took a delivery. */
export async function noteWorking(tx: Queryable, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx.query(
    'UPDATE webhooks SET failing_since = NULL WHERE id = ANY ($1) AND failing_since IS NOT NULL',
    [webhookIds.toSorted()],
  );
}
