import type { Pool } from '../../sql/database/pool.ts';

const BATCH = 100_000;
const LINK_FRONT = '019a0000-0000-7000-8000';

/**
 * Inserts links into PostgreSQL by SQL, one campaign per link (the largest table for this number of links).
 *
 * @param noted whether to record a change for each; if not, no process may follow the links yet
 */
export async function fillLinks(
  pool: Pool,
  workspaceId: string,
  count: number,
  noted = false,
): Promise<void> {
  if (!noted) await pool.query('ALTER TABLE links DISABLE TRIGGER USER');
  for (let from = 0; from < count; from += BATCH) {
    await pool.query(
      `WITH given AS (
         SELECT n, ${SLUG} AS slug, ${uuidOf(LINK_FRONT)} AS link,
           ${uuidOf('019a0000-0000-7000-9000')} AS campaign FROM generate_series($2::bigint, $3::bigint) AS n),
       campaigns AS (INSERT INTO destinations (id, workspace_id, name, destination_url)
         SELECT campaign, $1, 'Campaign', 'https://www.example.com/' || slug || '?variant=' || n FROM given),
       named AS (INSERT INTO slugs (slug, kind, target_id, workspace_id) SELECT slug, 'link', link, $1 FROM given)
       INSERT INTO links (id, workspace_id, destination_id, slug, channel, utm_source, utm_medium, utm_campaign,
         created_at, updated_at)
       SELECT link, $1, campaign, slug, 'facebook', 'facebook', 'social', 'spring-sale-' || (n % 50),
         timestamptz '2026-01-01' + n * interval '1 microsecond', now() FROM given`,
      [workspaceId, from, Math.min(from + BATCH, count) - 1],
    );
  }
  if (!noted) await pool.query('ALTER TABLE links ENABLE TRIGGER USER');
  await pool.query('ANALYZE links, destinations, slugs');
}

/** Returns a unique slug of nine characters; an odd factor permutes 32 bits. */
const SLUG = `'b' || lpad(to_hex((n * 2654435761) % 4294967296), 8, '0')`;

/** Returns the slug of link `n` of {@link fillLinks}. */
export function slugOf(n: number): string {
  return `b${(Math.imul(n, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}`;
}

/** Returns the id of link `n` of {@link fillLinks}. */
export function linkIdOf(n: number): string {
  return `${LINK_FRONT}-${n.toString(16).padStart(12, '0')}`;
}

/** Ascending ids, as UUIDv7. */
function uuidOf(front: string): string {
  return `('${front}-' || lpad(to_hex(n), 12, '0'))::uuid`;
}
