import type { WebhookBatch } from '../../core/webhooks/batch.ts';
import type { Queryable } from '../database/pool.ts';

/** A click that waits for the batch of a webhook. */
export type BatchedClick = {
  webhookId: string;
  eventId: string;
  workspaceId: string;
  linkId: string;
  visitorId: string;
  /** Microseconds since the epoch. */
  clickedAt: number;
  /** JSON of the click, as the API shows it. */
  click: string;
};

/** Rows of one statement. */
const CHUNK = 5_000;

/**
 * Adds clicks. Call it in the transaction that advances their lane.
 *
 * @param now milliseconds since the epoch
 */
export async function addBatchedClicks(
  tx: Queryable,
  clicks: readonly BatchedClick[],
  now: number,
): Promise<void> {
  for (let from = 0; from < clicks.length; from += CHUNK) {
    const rows = clicks.slice(from, from + CHUNK);
    await tx.query(
      `INSERT INTO webhook_batched_clicks (webhook_id, event_id, workspace_id, link_id, visitor_id, clicked_at, click,
         seen_at)
       SELECT webhook_id, event_id, workspace_id, link_id, visitor_id,
         'epoch'::timestamptz + clicked * interval '1 microsecond', click, to_timestamp($8::float8 / 1000)
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[], $6::bigint[], $7::json[])
         AS given (webhook_id, event_id, workspace_id, link_id, visitor_id, clicked, click)
       ON CONFLICT (webhook_id, event_id) DO NOTHING`,
      [
        rows.map((row) => row.webhookId),
        rows.map((row) => row.eventId),
        rows.map((row) => row.workspaceId),
        rows.map((row) => row.linkId),
        rows.map((row) => row.visitorId),
        rows.map((row) => row.clickedAt),
        rows.map((row) => row.click),
        now,
      ],
    );
  }
}

/** SQL: a webhook whose waiting clicks do not wait any longer. */
const IS_ENDED = `(NOT hook.is_active OR hook.batch IS NULL)`;

/** SQL: whether a click of the webhook has waited for long enough by the time $1, in milliseconds. */
const waitedLong = (seenAt: string) =>
  `(${IS_ENDED} OR ${seenAt} <= to_timestamp($1::float8 / 1000) - (hook.batch ->> 'seconds')::int * interval '1 second')`;

/**
 * Returns the webhooks with a batch due: enough clicks, or one that has waited for long enough. A recursive query reads
 * one index entry for each webhook, then no more than a batch.
 *
 * @param now milliseconds since the epoch
 */
export async function webhooksWithBatchDue(db: Queryable, now: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'webhooks_with_batch_due',
    text: `WITH RECURSIVE first AS (
       (SELECT webhook_id, seen_at FROM webhook_batched_clicks ORDER BY webhook_id, seen_at LIMIT 1)
       UNION ALL
       SELECT next.* FROM first CROSS JOIN LATERAL (
         SELECT webhook_id, seen_at FROM webhook_batched_clicks WHERE webhook_id > first.webhook_id
         ORDER BY webhook_id, seen_at LIMIT 1) AS next
     )
     SELECT hook.id FROM first JOIN webhooks AS hook ON hook.id = first.webhook_id
     WHERE ${waitedLong('first.seen_at')} OR (SELECT count(*) FROM (
       SELECT FROM webhook_batched_clicks AS waiting WHERE waiting.webhook_id = hook.id
       LIMIT (hook.batch ->> 'max')::int) AS found) >= (hook.batch ->> 'max')::int`,
    values: [now],
  });
  return rows.map(({ id }) => id);
}

/** A webhook whose clicks are taken, and no other worker's until the transaction ends. */
export type BatchingWebhook = {
  id: string;
  workspace_id: string;
  batch: WebhookBatch | null;
  is_deleted: boolean;
};

/** Locks a webhook for {@link takeBatches}, or returns null while another worker has it. */
export async function lockBatchingWebhook(tx: Queryable, id: string): Promise<BatchingWebhook | null> {
  const { rows } = await tx.query<BatchingWebhook>(
    `SELECT id, workspace_id, batch, deleted_at IS NOT NULL AS is_deleted FROM webhooks WHERE id = $1
     FOR NO KEY UPDATE SKIP LOCKED`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Removes the clicks of due batches, the oldest first, and returns those whose link and visitor are not erased.
 *
 * @param max clicks of a batch; less than that are taken only when the first of them is due
 * @param most batches
 */
export async function takeBatches(
  tx: Queryable,
  webhookId: string,
  { max, most, now }: { max: number; most: number; now: number },
): Promise<{ batches: string[][]; isLast: boolean }> {
  const { rows } = await tx.query<{ nth: number; click: string; is_erased: boolean }>(
    `WITH due AS MATERIALIZED (
       SELECT oldest.*, (row_number() OVER (ORDER BY oldest.seen_at, oldest.event_id) - 1) / $3::int AS nth,
         hook.batch, hook.is_active
       FROM webhooks AS hook CROSS JOIN LATERAL (
         SELECT event_id, seen_at FROM webhook_batched_clicks WHERE webhook_id = hook.id
         ORDER BY seen_at, event_id LIMIT $3::int * $4::int) AS oldest
       WHERE hook.id = $2
     ), whole AS (
       SELECT nth FROM due AS hook GROUP BY nth, batch, is_active
       HAVING count(*) = $3::int OR ${waitedLong('min(seen_at)')}
     ), gone AS (
       DELETE FROM webhook_batched_clicks AS waiting USING due
       WHERE waiting.webhook_id = $2 AND waiting.event_id = due.event_id AND due.nth IN (SELECT nth FROM whole)
       RETURNING due.nth, waiting.*
     )
     SELECT nth::int AS nth, click::text AS click, EXISTS (
       SELECT FROM erasures AS erasure WHERE erasure.workspace_id = gone.workspace_id
         AND ((erasure.kind = 'link' AND erasure.target_id = gone.link_id) OR (erasure.kind = 'visitor'
           AND erasure.target_id = gone.visitor_id AND gone.clicked_at <= erasure.requested_at))) AS is_erased
     FROM gone ORDER BY nth, clicked_at, event_id`,
    [now, webhookId, max, most],
  );
  const batches = Map.groupBy(
    rows.filter((row) => !row.is_erased),
    (row) => row.nth,
  );
  return {
    batches: [...batches.values()].map((batch) => batch.map(({ click }) => click)),
    isLast: rows.length < max * most,
  };
}
