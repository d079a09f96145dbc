import type { Queryable } from '../database/pool.ts';
import { type DisabledWebhookData, queueEvents } from './outbox.ts';
import { bumpWebhookVersion } from './webhooks.ts';

/**
 * Records failed attempts on these webhooks, and disables those without a success for long: since `after.ms`, and with
 * failures on `after.days` days. Two unrelated failures of a rarely used webhook must not disable it.
 *
 * @param now milliseconds since the epoch
 * @param after.ms since the first failure after the last success
 * @param after.days UTC days with a failed attempt since then
 * @returns ids of the webhooks disabled now
 */
export async function recordFailures(
  tx: Queryable,
  webhookIds: readonly string[],
  now: number,
  after: { ms: number; days: number },
): Promise<string[]> {
  if (webhookIds.length === 0) return [];
  const ids = webhookIds.toSorted();
  // Most of them have failed today before, and need no write.
  await tx.query(
    `UPDATE webhooks SET failing_since = coalesce(failing_since, at), failing_days = failing_days + 1, failed_on = day
     FROM (SELECT to_timestamp($2::float8 / 1000) AS at, (to_timestamp($2::float8 / 1000) AT TIME ZONE 'UTC')::date AS day) AS clock
     WHERE id = ANY ($1) AND failed_on IS DISTINCT FROM day AND is_active`,
    [ids, now],
  );
  const { rows } = await tx.query<Disabled>(
    `UPDATE webhooks SET is_active = false, disabled_at = to_timestamp($2::float8 / 1000), updated_at = clock_timestamp()
     WHERE id = ANY ($1) AND is_active AND failing_since <= to_timestamp(($2::float8 - $3) / 1000)
       AND failing_days >= $4 RETURNING ${DISABLED}`,
    [ids, now, after.ms, after.days],
  );
  return announce(tx, rows, 'failing');
}

/**
 * Disables webhooks whose receiver responded that it is gone.
 *
 * @param now milliseconds since the epoch
 * @returns ids of the webhooks disabled now
 */
export async function disableWebhooks(
  tx: Queryable,
  webhookIds: readonly string[],
  now: number,
): Promise<string[]> {
  if (webhookIds.length === 0) return [];
  const { rows } = await tx.query<Disabled>(
    `UPDATE webhooks SET is_active = false, disabled_at = to_timestamp($2::float8 / 1000), updated_at = clock_timestamp()
     WHERE id = ANY ($1) AND is_active RETURNING ${DISABLED}`,
    [webhookIds.toSorted(), now],
  );
  return announce(tx, rows, 'gone');
}

type Disabled = { id: string; workspace_id: string; url: string; disabled_at: Date };
const DISABLED = 'id, workspace_id, url, disabled_at';

/** Makes workers load the webhooks again, and notifies the other webhooks of the workspaces. */
async function announce(
  tx: Queryable,
  disabled: readonly Disabled[],
  reason: DisabledWebhookData['reason'],
): Promise<string[]> {
  if (disabled.length > 0) await bumpWebhookVersion(tx);
  for (const { id, workspace_id, url, disabled_at } of disabled) {
    const data = { webhook_id: id, url, reason, disabled_at: disabled_at.toISOString() };
    await queueEvents(tx, workspace_id, [{ type: 'webhook.disabled', data }]);
  }
  return disabled.map(({ id }) => id);
}

/** Records a successful delivery to these webhooks. */
export async function recordSuccesses(tx: Queryable, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  await tx.query(
    `UPDATE webhooks SET failing_since = NULL, failing_days = 0, failed_on = NULL
     WHERE id = ANY ($1) AND failing_since IS NOT NULL`,
    [webhookIds.toSorted()],
  );
}
