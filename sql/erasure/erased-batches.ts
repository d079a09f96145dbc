import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import type { Queryable } from '../database/pool.ts';
import type { Erasure } from './erasures.ts';

/** Returns SQL: whether a delivery is of a batch with clicks that are to be erased, until they are. */
export const hasErasedClicks = (delivery: string) => `(${delivery}.type = '${CLICK_BATCH}' AND EXISTS (
  SELECT FROM erasures AS erasure WHERE erasure.workspace_id = ${delivery}.workspace_id AND erasure.done_at IS NULL
    AND batch_subjects(${delivery}.body) @> ARRAY[erasure.target_id::text]))`;

/** SQL: whether an erasure concerns a click. */
const CONCERNS = `((erased.kind = 'link' AND click ->> 'link_id' = erased.target_id::text)
  OR (erased.kind = 'visitor' AND click ->> 'visitor_id' = erased.target_id::text
    AND (click ->> 'ts')::timestamptz <= erased.requested_at))`;

/**
 * Removes the clicks that these erasures concern from up to `limit` batches, and from those that wait for one. A batch
 * keeps its id; one without clicks is deleted.
 *
 * @returns how many batches were changed: fewer than `limit` means that none is left
 */
export async function eraseBatchedClicks(
  db: Queryable,
  erasures: readonly Pick<Erasure, 'id'>[],
  limit: number,
): Promise<number> {
  if (erasures.length === 0) return 0;
  const ids = erasures.map((erasure) => erasure.id);
  await db.query(
    `DELETE FROM webhook_batched_clicks AS waiting USING erasures AS erased
     WHERE erased.id = ANY ($1::bigint[]) AND waiting.workspace_id = erased.workspace_id
       AND ((erased.kind = 'link' AND waiting.link_id = erased.target_id) OR (erased.kind = 'visitor'
         AND waiting.visitor_id = erased.target_id AND waiting.clicked_at <= erased.requested_at))`,
    [ids],
  );
  // Locks in id order, as deliverers do, so that neither deadlocks.
  const { rows } = await db.query<{ id: string; is_empty: boolean }>(
    `WITH found AS MATERIALIZED (
       SELECT DISTINCT delivery.id FROM erasures AS erased JOIN webhook_deliveries AS delivery
         ON delivery.type = '${CLICK_BATCH}' AND delivery.workspace_id = erased.workspace_id
         AND batch_subjects(delivery.body) @> ARRAY[erased.target_id::text]
       WHERE erased.id = ANY ($1::bigint[]) AND EXISTS (
         SELECT FROM json_array_elements(delivery.body::json -> 'data') AS click WHERE ${CONCERNS})
       LIMIT $2
     ), locked AS MATERIALIZED (
       SELECT id FROM webhook_deliveries WHERE id IN (SELECT id FROM found) ORDER BY id FOR UPDATE
     )
     UPDATE webhook_deliveries AS delivery SET body = json_build_object(
       'id', body::json -> 'id', 'type', body::json -> 'type', 'created_at', body::json -> 'created_at',
       'data', (SELECT coalesce(json_agg(click), '[]') FROM json_array_elements(body::json -> 'data') AS click
         WHERE NOT EXISTS (SELECT FROM erasures AS erased WHERE erased.id = ANY ($1::bigint[])
           AND erased.workspace_id = delivery.workspace_id AND ${CONCERNS})))::text
     FROM locked WHERE delivery.id = locked.id
     RETURNING delivery.id, json_array_length(delivery.body::json -> 'data') = 0 AS is_empty`,
    [ids, limit],
  );
  const empty = rows.filter((row) => row.is_empty).map((row) => row.id);
  if (empty.length > 0) await db.query('DELETE FROM webhook_deliveries WHERE id = ANY ($1)', [empty]);
  return rows.length;
}
