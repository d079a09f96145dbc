import type { SecretSealer } from '../../core/access/sealed-secret.ts';
import { connectionWithKey } from '../connections/connections.ts';
import type { Queryable } from '../database/pool.ts';

/** Opens the keys of Stripe: those of fulfilments, and those of connections. */
export type StripeKeys = {
  fulfilments: () => Promise<SecretSealer>;
  connections: () => Promise<SecretSealer>;
};

/**
 * Returns the restricted key of a fulfilment: its own, else that of the workspace's oldest Stripe connection that has
 * one, live mode first. Null: neither has one.
 */
export async function stripeKeyOf(
  db: Queryable,
  fulfilment: { id: string; workspaceId: string; restrictedKey: Buffer | null },
  keys: StripeKeys,
): Promise<string | null> {
  if (fulfilment.restrictedKey) {
    return (await keys.fulfilments()).open(fulfilment.restrictedKey, fulfilment.id);
  }
  const connection = await connectionWithKey(db, fulfilment.workspaceId, 'stripe');
  if (!connection?.restricted_key) return null;
  return (await keys.connections()).open(connection.restricted_key, connection.id);
}

/**
 * Returns the Stripe customer of a user: the newest one that events of the workspace's Stripe connections, or an
 * import, tied to the user and to no other user since. Customers of a deleted connection come last. Null: none.
 */
export async function tiedStripeCustomer(
  db: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<string | null> {
  const { rows } = await db.query<{ customer_id: string }>(
    `SELECT substr(tie.payer, length('customer:') + 1) AS customer_id FROM connection_ties AS tie
       LEFT JOIN connections AS connection ON connection.id = tie.connection_id
     WHERE tie.workspace_id = $1 AND coalesce(tie.buyer ->> 'externalUserId', tie.buyer ->> 'reference') = $2
       AND tie.provider = 'stripe' AND tie.payer LIKE 'customer:%'
       AND (connection.deleted_at IS NULL OR connection.settings ->> 'mode' = 'live')
       AND NOT EXISTS (
         SELECT FROM connection_ties AS later
         WHERE later.workspace_id = $1 AND later.provider = 'stripe' AND later.payer = tie.payer
           AND later.tied_at > tie.tied_at
           AND coalesce(later.buyer ->> 'externalUserId', later.buyer ->> 'reference') IS DISTINCT FROM $2)
     ORDER BY connection.deleted_at IS NOT NULL, tie.tied_at DESC, tie.payer LIMIT 1`,
    [workspaceId, externalUserId],
  );
  return rows[0]?.customer_id ?? null;
}
