import { randomUUID } from 'node:crypto';
import type { Queryable } from '../database/pool.ts';
import { LINK_COLUMNS, type LinkPage, type LinkTableRow } from './link-table.ts';

/**
 * Markers that the primary gets and a replica must have. Commits reach a replica in their order, so one that has a
 * marker has everything that was committed before it. A replica of another server, or of another history of this
 * one, never has it.
 */
const NAME = 'linkMarker/';

/** Puts a marker, and removes those that a killed process left. @param primary not the replica */
export async function putReplicaMarker(primary: Queryable): Promise<string> {
  const marker = NAME + randomUUID();
  await primary.query(
    `WITH left_over AS (
       DELETE FROM job_leases WHERE starts_with(job, $2) AND held_until < clock_timestamp() - interval '1 day')
     INSERT INTO job_leases (job, holder, held_until) VALUES ($1, gen_random_uuid(), clock_timestamp())`,
    [marker, NAME],
  );
  return marker;
}

export async function removeReplicaMarker(primary: Queryable, marker: string): Promise<void> {
  await primary.query('DELETE FROM job_leases WHERE job = $1', [marker]);
}

/**
 * Returns the live ones among the next `limit` links in order of id, as a replica has them. Null when the server that
 * responds does not have the marker: one statement reads one state of one server.
 */
export async function linksOfReplicaAfter(
  replica: Queryable,
  { marker, id, limit }: { marker: string; id: string; limit: number },
): Promise<LinkPage | null> {
  const { rows } = await replica.query<Partial<LinkTableRow> & { has_marker: boolean; deleted: boolean }>(
    `SELECT EXISTS (SELECT FROM job_leases WHERE job = $3) AS has_marker, page.*
     FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
       SELECT ${LINK_COLUMNS}, l.deleted_at IS NOT NULL AS deleted
       FROM (SELECT * FROM links WHERE id > $1 ORDER BY id LIMIT $2) l
       CROSS JOIN LATERAL (SELECT destination_url FROM destinations WHERE id = l.destination_id LIMIT 1) d
       ORDER BY l.id
     ) page ON true`,
    [id, limit, marker],
  );
  if (rows[0]?.has_marker !== true) return null;
  const found = rows.filter((row) => row.id !== null) as (LinkTableRow & { deleted: boolean })[];
  const next = found.length < limit ? null : (found.at(-1)?.id ?? null);
  return { links: found.filter((row) => !row.deleted), next };
}
