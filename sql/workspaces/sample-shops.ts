import { uuidv7 } from '../../core/ids.ts';
import { slugKey } from '../../core/links/slugs.ts';
import { insertMember, memberByEmail } from '../console/members.ts';
import type { Queryable } from '../database/pool.ts';
import { OWN_DOMAIN } from '../links/slugs.ts';

/** The sample shop of a workspace. `ready`: it has all of its data. */
export type SampleShop = { id: string; ready: boolean };

/** Returns the sample shop of a workspace, or null. */
export async function sampleShopOf(db: Queryable, workspaceId: string): Promise<SampleShop | null> {
  const { rows } = await db.query<SampleShop>(
    `SELECT id, sample_ready_at IS NOT NULL AS ready FROM workspaces
     WHERE sample_of = $1 AND removed_at IS NULL`,
    [workspaceId],
  );
  return rows[0] ?? null;
}

/**
 * Records that a sample shop has all of its data. Its first steps end, and its bio page counts as created in the
 * console, which lists no others.
 */
export async function completeSampleShop(tx: Queryable, id: string): Promise<void> {
  await tx.query(`UPDATE bio_pages SET made_in = 'console' WHERE workspace_id = $1`, [id]);
  await tx.query(
    'UPDATE workspaces SET sample_ready_at = now(), first_steps_ended_at = now() WHERE id = $1',
    [id],
  );
}

/**
 * Closes a sample shop: its members, sessions, and keys end, its links respond as those of a suspended workspace, and
 * no list shows it. Its slug is free.
 */
export async function closeSampleShop(tx: Queryable, id: string): Promise<void> {
  await tx.query('DELETE FROM sessions WHERE workspace_id = $1', [id]);
  await tx.query('UPDATE members SET removed_at = now() WHERE workspace_id = $1 AND removed_at IS NULL', [
    id,
  ]);
  await tx.query('UPDATE api_keys SET revoked_at = now() WHERE workspace_id = $1 AND revoked_at IS NULL', [
    id,
  ]);
  await tx.query(
    `UPDATE workspaces SET removed_at = now(), suspended_at = now(), slug = id::text
     WHERE id = $1 AND sample_of IS NOT NULL`,
    [id],
  );
}

/** Returns the member for a person who views a sample shop. The same email always gets the same member. */
export async function sampleMember(tx: Queryable, sampleId: string, email: string | null): Promise<string> {
  const maker = { makerKeyId: null, makerMemberId: null };
  const id = uuidv7();
  if (await insertMember(tx, { id, workspaceId: sampleId, email, role: 'owner', ...maker })) return id;
  const known = email === null ? null : await memberByEmail(tx, sampleId, email);
  if (!known) throw new Error(`the sample shop ${sampleId} has no member ${id}`);
  return known.id;
}

/** Returns which of the slugs are taken on the deployment's own domain. */
export async function takenSlugs(db: Queryable, slugs: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ slug: string }>(
    'SELECT slug FROM slugs WHERE domain_number = $1 AND slug = ANY ($2)',
    [OWN_DOMAIN, slugs.map(slugKey)],
  );
  return new Set(rows.map(({ slug }) => slug));
}
