import { uuidv7 } from '../../core/ids.ts';
import type { WebhookBatch } from '../../core/webhooks/batch.ts';
import type { WebhookFilter } from '../../core/webhooks/filter.ts';
import type { WebhookFormat } from '../../core/webhooks/formats.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** A webhook as it is shown. Instants are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Webhook = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  /** Null: every event. */
  filter: WebhookFilter | null;
  format: WebhookFormat;
  /** How clicks are delivered together. Null: each alone. */
  batch: WebhookBatch | null;
  is_active: boolean;
  /** When the service disabled it for failures; null when it did not, or after the webhook was enabled again. */
  disabled_at: string | null;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, url, events, description, filter, format, batch, is_active, ${isoMicros('disabled_at')} AS disabled_at,
  ${isoMicros('created_at')} AS created_at, ${isoMicros('updated_at')} AS updated_at`;

/** SQL: not deleted. */
const OWN = 'workspace_id = $1 AND deleted_at IS NULL';

export type WebhookSettings = Pick<
  Webhook,
  'url' | 'events' | 'description' | 'filter' | 'format' | 'batch' | 'is_active'
>;

/** Parameters $3 to $9 of the statements that write a webhook. */
const settingValues = ({ url, events, description, filter, format, batch, is_active }: WebhookSettings) => [
  url,
  events,
  description,
  filter && JSON.stringify(filter),
  format,
  batch && JSON.stringify(batch),
  is_active,
];

/** Makes every deliverer reload the webhooks. Call it in the transaction of the change, after it. */
export async function bumpWebhookVersion(tx: Queryable): Promise<void> {
  await tx.query('UPDATE webhook_changes SET version = version + 1');
}

/** Creates a webhook. The caller has locked the workspace: creation times are unique in it. */
export async function insertWebhook(
  tx: Queryable,
  workspaceId: string,
  given: WebhookSettings & { secret: Buffer },
): Promise<Webhook> {
  const { rows } = await tx.query<Webhook>(
    `INSERT INTO webhooks (id, workspace_id, url, events, description, filter, format, batch, is_active,
       active_since, created_at, updated_at)
     SELECT $2, $1, $3, $4, $5, $6, $7, $8, $9, at, at, at FROM (
       SELECT ${nextCreation('webhooks', '$1')} AS at) AS clock
     RETURNING ${COLUMNS}`,
    [workspaceId, uuidv7(), ...settingValues(given)],
  );
  const [webhook] = rows;
  if (!webhook) throw new Error('the webhook was not inserted');
  await tx.query(
    'INSERT INTO webhook_secrets (webhook_id, secret, created_at) VALUES ($1, $2, clock_timestamp())',
    [webhook.id, given.secret],
  );
  await bumpWebhookVersion(tx);
  return webhook;
}

/**
 * Returns the webhooks of a workspace, newest first.
 *
 * @param before ISO 8601 with microseconds: older ones only
 */
export async function listWebhooks(
  db: Queryable,
  workspaceId: string,
  page: { before: string | null; limit: number },
): Promise<Webhook[]> {
  const { rows } = await db.query<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks
     WHERE ${OWN} AND ($2::timestamptz IS NULL OR webhooks.created_at < $2)
     ORDER BY webhooks.created_at DESC LIMIT $3`,
    [workspaceId, page.before, page.limit],
  );
  return rows;
}

/** Returns the webhook with this id in the workspace, or null. */
export async function webhookById(db: Queryable, workspaceId: string, id: string): Promise<Webhook | null> {
  const { rows } = await db.query<Webhook>(`SELECT ${COLUMNS} FROM webhooks WHERE ${OWN} AND id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0] ?? null;
}

/** As {@link webhookById}, locked until the transaction ends. */
export async function lockWebhook(tx: Queryable, workspaceId: string, id: string): Promise<Webhook | null> {
  const { rows } = await tx.query<Webhook>(
    `SELECT ${COLUMNS} FROM webhooks WHERE ${OWN} AND id = $2 FOR NO KEY UPDATE`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** SQL of {@link updateWebhook}: the new URL or the restart makes former failures irrelevant. */
const RESETS_FAILURES = '(url <> $3 OR ($9 AND NOT is_active))';

/**
 * Changes a webhook. An enabled one gets events from now on. Enabling it, or changing its URL, resets its failures.
 * Returns null when the workspace has none with this id.
 */
export async function updateWebhook(
  tx: Queryable,
  workspaceId: string,
  id: string,
  settings: WebhookSettings,
): Promise<Webhook | null> {
  const { rows } = await tx.query<Webhook>(
    `UPDATE webhooks SET url = $3, events = $4, description = $5, filter = $6, format = $7, batch = $8, is_active = $9,
       updated_at = clock_timestamp(),
       active_since = CASE WHEN $9 AND NOT is_active THEN clock_timestamp() ELSE active_since END,
       failing_since = CASE WHEN ${RESETS_FAILURES} THEN NULL ELSE failing_since END,
       failing_days = CASE WHEN ${RESETS_FAILURES} THEN 0 ELSE failing_days END,
       failed_on = CASE WHEN ${RESETS_FAILURES} THEN NULL ELSE failed_on END,
       disabled_at = CASE WHEN $9 THEN NULL ELSE disabled_at END
     WHERE ${OWN} AND id = $2 RETURNING ${COLUMNS}`,
    [workspaceId, id, ...settingValues(settings)],
  );
  if (rows[0]) await bumpWebhookVersion(tx);
  return rows[0] ?? null;
}

/**
 * Deletes a webhook. A job deletes its deliveries in batches: there may be very many. Returns false when there is
 * none.
 */
export async function deleteWebhook(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE webhooks SET deleted_at = clock_timestamp(), is_active = false WHERE ${OWN} AND id = $2`,
    [workspaceId, id],
  );
  if (rowCount !== 1) return false;
  await bumpWebhookVersion(tx);
  return true;
}

/** Most secrets that sign at a time: each makes the header longer. */
const MOST_SECRETS = 5;

/**
 * Adds a signing secret. Former ones sign until they expire, `overlapMs` after their replacement; of many rotations
 * only the newest few do. The caller has locked the webhook.
 */
export async function rotateSecret(
  tx: Queryable,
  id: string,
  secret: Buffer,
  overlapMs: number,
): Promise<void> {
  await tx.query(
    `UPDATE webhook_secrets SET expires_at = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE webhook_id = $1 AND expires_at IS NULL`,
    [id, overlapMs],
  );
  await tx.query(
    'INSERT INTO webhook_secrets (webhook_id, secret, created_at) VALUES ($1, $2, clock_timestamp())',
    [id, secret],
  );
  await tx.query(
    `DELETE FROM webhook_secrets WHERE webhook_id = $1 AND (expires_at < clock_timestamp() OR secret NOT IN (
       SELECT secret FROM webhook_secrets WHERE webhook_id = $1 ORDER BY created_at DESC LIMIT $2))`,
    [id, MOST_SECRETS],
  );
  await bumpWebhookVersion(tx);
}
