import { CLICK_EVENT } from '../core/webhooks/event-types.ts';
import type { Erasure } from './erasures.ts';
import type { Queryable } from './pool.ts';

/** SQL: the link of a click's delivery. Indexed in these words. */
const linkOf = (delivery: string) => `(${delivery}.body::json #>> '{data,link_id}')::uuid`;

/**
 * SQL: whether a delivery is of a click on a link whose history is erased, or going to be.
 *
 * @param delivery name of the row
 */
export function isErased(delivery: string): string {
  return `(${delivery}.type = '${CLICK_EVENT}' AND EXISTS (SELECT FROM erasures AS erasure
    WHERE erasure.workspace_id = ${delivery}.workspace_id AND erasure.kind = 'link'
      AND erasure.target_id = ${linkOf(delivery)}))`;
}

/**
 * Removes up to `limit` deliveries of clicks on these links, those that are still to be made among them.
 *
 * @returns how many were found: fewer than `limit` means that none is left
 */
export async function dropErasedDeliveries(
  db: Queryable,
  links: readonly Pick<Erasure, 'workspaceId' | 'targetId'>[],
  limit: number,
): Promise<number> {
  if (links.length === 0) return 0;
  // Locked in one order, that of the deliverers, so that neither waits for the other in a circle.
  const { rows } = await db.query<{ found: number }>(
    `WITH found AS MATERIALIZED (
       SELECT of_link.id FROM unnest($1::uuid[], $2::uuid[]) AS erased (workspace_id, link_id) CROSS JOIN LATERAL (
         SELECT id FROM webhook_deliveries AS delivery
         WHERE type = '${CLICK_EVENT}' AND ${linkOf('delivery')} = erased.link_id
           AND workspace_id = erased.workspace_id LIMIT $3) AS of_link
       LIMIT $3
     ), gone AS (
       DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
         SELECT id FROM webhook_deliveries WHERE id = ANY (ARRAY(SELECT id FROM found)) ORDER BY id FOR UPDATE))
     )
     SELECT count(*) AS found FROM found`,
    [links.map((link) => link.workspaceId), links.map((link) => link.targetId), limit],
  );
  return rows[0]?.found ?? 0;
}
