import { createHash } from 'node:crypto';
import { uuidv7 } from '../../core/ids.ts';
import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';

/** Types of stored icons. An SVG is not among them: it could run scripts. */
export type IconType = 'image/png' | 'image/gif' | 'image/x-icon';
export type Icon = { type: IconType; image: Buffer };

/** Maximum bytes of a stored icon, and UTF-16 code units of a stored title. */
export const ICON_BYTES = 65_536;
export const TITLE_LIMIT = 300;

/** What is known of a URL. */
export type DestinationPage = {
  url: string;
  title: string | null;
  iconId: string | null;
  /** Whether a worker is still to fetch it for the first time. */
  isPending: boolean;
};

/** A URL that a worker is to fetch. */
export type DuePage = { workspaceId: string; url: string };

/** A page is fetched again when it is requested at this age; one without a title earlier. */
const FRESH = '7 days';
const FRESH_WITHOUT_TITLE = '1 day';
/** A worker that has not stored the result by then has ended. */
const CLAIM = '1 minute';

const hashOf = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** Returns what is known of URLs of a workspace. */
export async function destinationPages(
  db: Queryable,
  workspaceId: string,
  urls: readonly string[],
): Promise<DestinationPage[]> {
  const { rows } = await db.query<DestinationPage>(
    `SELECT page.url, page.title, icon.id AS "iconId", page.fetched_at IS NULL AS "isPending"
     FROM destination_pages page LEFT JOIN destination_icons icon
       ON icon.workspace_id = page.workspace_id AND icon.sha256 = page.icon_sha256
     WHERE page.workspace_id = $1 AND page.url_sha256 = ANY ($2)`,
    [workspaceId, urls.map(hashOf)],
  );
  return rows;
}

/** Requests the fetch of URLs that are not known, or that were fetched long ago. */
export async function wantDestinationPages(
  db: Queryable,
  workspaceId: string,
  urls: readonly string[],
): Promise<void> {
  await db.query(
    `INSERT INTO destination_pages AS page (workspace_id, url_sha256, url, due_at, wanted_at)
     SELECT $1, wanted.hash, wanted.url, now(), now() FROM unnest($2::bytea[], $3::text[]) AS wanted (hash, url)
     ORDER BY wanted.hash
     ON CONFLICT (workspace_id, url_sha256) DO UPDATE SET due_at = now(), wanted_at = now()
     WHERE page.due_at IS NULL AND page.fetched_at < now()
       - CASE WHEN page.title IS NULL THEN interval '${FRESH_WITHOUT_TITLE}' ELSE interval '${FRESH}' END`,
    [workspaceId, urls.map(hashOf), urls],
  );
}

/** Claims URLs that are due, for a minute: then another worker takes them. */
export async function claimDuePages(db: Queryable, limit: number): Promise<DuePage[]> {
  const { rows } = await db.query<DuePage>(
    `UPDATE destination_pages SET due_at = now() + interval '${CLAIM}'
     WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM destination_pages WHERE due_at <= now() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING workspace_id AS "workspaceId", url`,
    [limit],
  );
  return rows;
}

/**
 * Stores the result of a fetch.
 *
 * @param found null: the site did not respond; what was known of it stays
 */
export async function storeDestinationPage(
  pool: Pool,
  { workspaceId, url }: DuePage,
  found: { title: string | null; icon: Icon | null } | null,
): Promise<void> {
  const icon = found?.icon ?? null;
  const iconHash = icon && hashOf(icon.image);
  await inTransaction(pool, async (tx) => {
    if (icon) {
      await tx.query(
        `INSERT INTO destination_icons (id, workspace_id, sha256, type, image, used_at)
         VALUES ($1, $2, $3, $4, $5, now())
         ON CONFLICT (workspace_id, sha256) DO UPDATE SET used_at = now()`,
        [uuidv7(), workspaceId, iconHash, icon.type, icon.image],
      );
    }
    await tx.query(
      `UPDATE destination_pages SET due_at = NULL, fetched_at = now(),
         title = CASE WHEN $3 THEN $4 ELSE title END, icon_sha256 = CASE WHEN $3 THEN $5 ELSE icon_sha256 END
       WHERE workspace_id = $1 AND url_sha256 = $2`,
      [workspaceId, hashOf(url), found !== null, found?.title ?? null, iconHash],
    );
  });
}

/** Returns an icon of the workspace, or null. */
export async function destinationIcon(db: Queryable, workspaceId: string, id: string): Promise<Icon | null> {
  const { rows } = await db.query<Icon>(
    'SELECT type, image FROM destination_icons WHERE workspace_id = $1 AND id = $2',
    [workspaceId, id],
  );
  return rows[0] ?? null;
}
