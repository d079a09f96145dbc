import type { WebhookBatch } from '../../core/webhooks/batch.ts';
import type { WebhookFilter } from '../../core/webhooks/filter.ts';
import type { WebhookFormat } from '../../core/webhooks/formats.ts';
import type { Queryable } from '../database/pool.ts';

/** An active webhook as a deliverer needs it, or a listener, which has no address. */
export type Subscription = {
  id: string;
  isListener: boolean;
  workspaceId: string;
  url: string;
  events: string[];
  filter: WebhookFilter | null;
  format: WebhookFormat;
  batch: WebhookBatch | null;
  /** Microseconds since the epoch: earlier events are not sent. */
  activeSince: number;
  /** Newest first. `expiresAt`: milliseconds since the epoch; null for one that does not expire. */
  secrets: { secret: Buffer; expiresAt: number | null }[];
};

/** SQL: the workspace's plan covers webhooks, as `isPaid` of core/access/plans.ts. */
export const PAID = `workspace.plan <> 'free' AND workspace.plan_status IN ('active', 'trialing')`;

/** Returns a number that changes with every change of a webhook or of a plan. */
export async function webhookVersion(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ version: number }>({
    name: 'webhook_version',
    text: 'SELECT version FROM webhook_changes',
  });
  return rows[0]?.version ?? 0;
}

/**
 * Returns every active webhook: `awake`, those whose plan covers them, and `asleep`, the ids of those that wait for a
 * renewal.
 */
export async function readSubscriptions(db: Queryable): Promise<{ awake: Subscription[]; asleep: string[] }> {
  const { rows } = await db.query<{
    id: string;
    workspace_id: string;
    url: string;
    events: string[];
    filter: WebhookFilter | null;
    format: WebhookFormat;
    batch: WebhookBatch | null;
    active_since: number;
    is_paid: boolean;
    secrets: string[];
    expiries: (number | null)[];
  }>(
    `SELECT webhook.id, webhook.workspace_id, webhook.url, webhook.events, webhook.filter,
       webhook.format, webhook.batch,
       (extract(epoch FROM webhook.active_since) * 1000000)::bigint AS active_since, ${PAID} AS is_paid,
       array_agg(encode(signing.secret, 'base64') ORDER BY signing.created_at DESC) AS secrets,
       array_agg((extract(epoch FROM signing.expires_at) * 1000)::float8 ORDER BY signing.created_at DESC) AS expiries
     FROM webhooks AS webhook JOIN workspaces AS workspace ON workspace.id = webhook.workspace_id
       JOIN webhook_secrets AS signing ON signing.webhook_id = webhook.id
     WHERE webhook.is_active AND webhook.deleted_at IS NULL
     GROUP BY webhook.id, workspace.id`,
  );
  const awake = rows
    .filter((row) => row.is_paid)
    .map((row) => ({
      id: row.id,
      isListener: false,
      workspaceId: row.workspace_id,
      url: row.url,
      events: row.events,
      filter: row.filter,
      format: row.format,
      batch: row.batch,
      activeSince: row.active_since,
      secrets: row.secrets.map((secret, index) => ({
        secret: Buffer.from(secret, 'base64'),
        expiresAt: row.expiries[index] ?? null,
      })),
    }));
  return {
    awake: [...awake, ...(await readListeners(db))],
    asleep: rows.filter((row) => !row.is_paid).map((row) => row.id),
  };
}

/** Returns the listeners whose plan covers them. */
async function readListeners(db: Queryable): Promise<Subscription[]> {
  const { rows } = await db.query<{
    id: string;
    workspace_id: string;
    events: string[];
    active_since: number;
  }>(
    `SELECT listener.id, listener.workspace_id, listener.events,
       (extract(epoch FROM listener.active_since) * 1000000)::bigint AS active_since
     FROM webhook_listeners AS listener JOIN workspaces AS workspace ON workspace.id = listener.workspace_id
     WHERE ${PAID}`,
  );
  return rows.map((row) => ({
    id: row.id,
    isListener: true,
    workspaceId: row.workspace_id,
    url: '',
    events: row.events,
    filter: null,
    format: 'json',
    batch: null,
    activeSince: row.active_since,
    secrets: [],
  }));
}
