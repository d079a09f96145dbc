import type { Pool } from '../../sql/database/pool.ts';

const BATCH = 100_000;
const LINK_FRONT = '019a0000-0000-7000-8000';

/**
 * Puts links into PostgreSQL, each in a campaign of its own (the most that a table of this size can take), by SQL:
 * millions through the API would take hours.
 *
 * @param noted whether each is noted for those who follow the links; without, nobody may be following yet
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

/** Nine characters in no order, each number's its own: an odd factor permutes 32 bits. */
const SLUG = `'b' || lpad(to_hex((n * 2654435761) % 4294967296), 8, '0')`;

/** The slug of link `n` of {@link fillLinks}. */
export function slugOf(n: number): string {
  return `b${(Math.imul(n, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}`;
}

/** The id of link `n` of {@link fillLinks}. */
export function linkIdOf(n: number): string {
  return `${LINK_FRONT}-${n.toString(16).padStart(12, '0')}`;
}

/** Ids that grow, as UUIDv7 does. */
function uuidOf(front: string): string {
  return `('${front}-' || lpad(to_hex(n), 12, '0'))::uuid`;
}
