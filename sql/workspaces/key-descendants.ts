import { endInvitesOf } from '../console/invites.ts';
import { removeMember } from '../console/members.ts';
import type { Queryable } from '../database/pool.ts';
import { lockWorkspace } from './workspaces.ts';

/** Active keys and members that descend from a key. */
export type Descendants = { keys: string[]; members: string[] };

/**
 * Returns the active keys and members that these keys created, directly or through other keys and members. A member is
 * created by accepting an invitation, a key by `POST /keys`. Ended creators count too.
 *
 * @param spared a member that is left out, with its own descendants: the caller
 */
export async function descendantsOf(
  db: Queryable,
  workspaceId: string,
  keyIds: readonly string[],
  spared: string | null = null,
): Promise<Descendants> {
  const { rows } = await db.query<{ is_key: boolean; id: string }>(
    `WITH RECURSIVE line (is_key, id) AS (
       SELECT true, root.id FROM unnest($2::uuid[]) AS root (id)
       UNION
       SELECT made.is_key, made.id FROM line, LATERAL (
         SELECT true AS is_key, k.id FROM api_keys k
         WHERE k.workspace_id = $1 AND CASE WHEN line.is_key THEN k.maker_key_id ELSE k.maker_member_id END = line.id
         UNION ALL
         SELECT false, m.id FROM members m
         WHERE m.workspace_id = $1 AND CASE WHEN line.is_key THEN m.maker_key_id ELSE m.maker_member_id END = line.id
           AND m.id IS DISTINCT FROM $3::uuid
       ) AS made
     )
     SELECT is_key, id FROM line
     WHERE NOT (is_key AND id = ANY($2)) AND CASE WHEN is_key
       THEN EXISTS (SELECT FROM api_keys k WHERE k.id = line.id AND k.revoked_at IS NULL)
       ELSE EXISTS (SELECT FROM members m WHERE m.id = line.id AND m.removed_at IS NULL) END
     ORDER BY id`,
    [workspaceId, keyIds, spared],
  );
  const ids = (isKey: boolean) => rows.filter((row) => row.is_key === isKey).map((row) => row.id);
  return { keys: ids(true), members: ids(false) };
}

/**
 * Revokes the active descendants of these keys and removes the members among them. Locks the workspace, so that a key
 * or member that is being created is either found here or refused.
 *
 * @param spared see {@link descendantsOf}
 */
export async function endDescendants(
  tx: Queryable,
  workspaceId: string,
  keyIds: readonly string[],
  spared: string | null = null,
): Promise<Descendants> {
  await lockWorkspace(tx, workspaceId);
  const found = await descendantsOf(tx, workspaceId, keyIds, spared);
  await tx.query('UPDATE api_keys SET revoked_at = now() WHERE id = ANY($1) AND revoked_at IS NULL', [
    found.keys,
  ]);
  for (const member of found.members) {
    await endInvitesOf(tx, member);
    await removeMember(tx, member);
  }
  return found;
}
