import type { Queryable } from '../database/pool.ts';
import { endDescendants } from './key-descendants.ts';

/** A workspace that a partner runs, as the partner sees it. */
export type PartnerWorkspace = { id: string; name: string; slug: string; partner_external_id: string };

/** Returns the partner's workspace with this `external_id`, compared exactly, or null. */
export async function partnerWorkspace(
  db: Queryable,
  partnerId: string,
  externalId: string,
): Promise<PartnerWorkspace | null> {
  const { rows } = await db.query<PartnerWorkspace>(
    `SELECT id, name, slug, partner_external_id FROM workspaces
     WHERE partner_id = $1 AND partner_external_id = $2`,
    [partnerId, externalId],
  );
  return rows[0] ?? null;
}

/**
 * Locks this `external_id` until the transaction ends: of two calls that provision it, the second waits and finds
 * what the first created.
 */
export async function lockPartnerWorkspace(
  tx: Queryable,
  partnerId: string,
  externalId: string,
): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${partnerId} ${externalId}`]);
}

/**
 * Revokes every key of the workspace that the partner created, and all descendants of the partner's present and earlier
 * keys, and no other key.
 */
export async function revokePartnerKeys(
  tx: Queryable,
  partnerId: string,
  workspaceId: string,
): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE workspace_id = $2 AND partner_id = $1
     RETURNING id`,
    [partnerId, workspaceId],
  );
  await endDescendants(
    tx,
    workspaceId,
    rows.map(({ id }) => id),
  );
}

/** Returns the ids of a partner's workspaces. */
export async function workspaceIdsOfPartner(db: Queryable, partnerId: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'SELECT id FROM workspaces WHERE partner_id = $1 ORDER BY id',
    [partnerId],
  );
  return rows.map(({ id }) => id);
}
