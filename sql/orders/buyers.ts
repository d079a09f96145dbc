import type { Queryable } from '../database/pool.ts';
import { MAX_JOINED } from './joined-visitors.ts';

/** The buyer of an order. */
export type Buyer = {
  workspaceId: string;
  visitorId: string | null;
  /** Other ids of the same browser, reported with the order; left out: none. */
  otherVisitorIds?: readonly string[];
  email: string | null;
};

/**
 * Limits of one buyer's visitors, the newest, and of the emails that join them.
 * Anyone can report any number of visitors with one email by pixel.
 */
const MAX_VISITORS = 10_000;
const MAX_EMAILS = 100;
/** Limit of the visitors of all buyers together. It bounds a worker's memory. */
const MAX_OF_ALL = 5 * MAX_VISITORS;

/**
 * Returns the visitors that are one person with each buyer: the visitors of the buyer's browser, every visitor with an
 * email of those or of the order, and every visitor that was reported together with one of them. Only one hop: other
 * emails of the found visitors join no further visitors.
 *
 * @returns for each buyer, in the given order, distinct visitor ids; only for the first buyers, at least one, where all
 *   together exceed the limit
 */
export async function visitorsOfBuyers(db: Queryable, buyers: readonly Buyer[]): Promise<string[][]> {
  const { rows } = await db.query<{ position: number; visitor_id: string }>(
    `SELECT buyer.position, found.visitor_id
     FROM unnest($1::uuid[], $2::text[], $3::text[]) WITH ORDINALITY
       AS buyer (workspace_id, visitors, email, position)
     CROSS JOIN LATERAL (SELECT buyer.visitors::uuid[] AS own) AS browser
     CROSS JOIN LATERAL (
       SELECT DISTINCT unnest(own) AS visitor_id
       UNION ALL (
         SELECT other.visitor_id FROM (
           SELECT same.visitor_id, same.last_ts FROM (
             SELECT buyer.email WHERE buyer.email IS NOT NULL
             UNION (SELECT email FROM identities WHERE workspace_id = buyer.workspace_id
               AND visitor_id = ANY (own) ORDER BY last_ts DESC LIMIT ${MAX_EMAILS})
           ) AS address CROSS JOIN LATERAL (
             SELECT visitor_id, last_ts FROM identities
             WHERE workspace_id = buyer.workspace_id AND email = address.email
             ORDER BY last_ts DESC LIMIT ${MAX_VISITORS}) AS same
           UNION ALL
           SELECT joined.visitor_id, joined.last_ts FROM unnest(own) AS one CROSS JOIN LATERAL (
             SELECT other_visitor_id AS visitor_id, last_ts FROM joined_visitors
             WHERE workspace_id = buyer.workspace_id AND joined_visitors.visitor_id = one
             ORDER BY last_ts DESC LIMIT ${MAX_JOINED}) AS joined
         ) AS other
         WHERE NOT (other.visitor_id = ANY (own))
         GROUP BY other.visitor_id ORDER BY max(other.last_ts) DESC LIMIT ${MAX_VISITORS - 1})
     ) AS found
     ORDER BY buyer.position LIMIT ${MAX_OF_ALL + 1}`,
    [
      buyers.map((buyer) => buyer.workspaceId),
      buyers.map(({ visitorId, otherVisitorIds = [] }) =>
        visitorId === null ? '{}' : `{${[visitorId, ...otherVisitorIds].join()}}`,
      ),
      buyers.map((buyer) => buyer.email),
    ],
  );
  // The visitors of the last buyer may be incomplete.
  const whole = rows.length > MAX_OF_ALL ? Number(rows.at(-1)?.position) - 1 : buyers.length;
  const visitors: string[][] = Array.from({ length: whole }, () => []);
  for (const row of rows) visitors[row.position - 1]?.push(row.visitor_id);
  return visitors;
}
