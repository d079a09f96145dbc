import type { SocialLink } from '../../core/bio/public-page.ts';
import type { Theme } from '../../core/bio/theme.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Language } from '../../core/languages/languages.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { DOMAIN_IS_OWN } from '../domains/domains.ts';

/** Fields of a page without its buttons, which are in sql/bio/buttons.ts. */
export type BioPageFields = {
  title: string;
  bio: string;
  avatar_url: string | null;
  /** Pixels. Both or neither. */
  avatar_width: number | null;
  avatar_height: number | null;
  theme: Theme;
  social_links: SocialLink[];
  is_published: boolean;
  show_branding: boolean;
  /** Null: that of the workspace. */
  language: Language | null;
  metadata: Record<string, unknown> | null;
};

export const PAGE_ORIGINS = ['api', 'console'] as const;
/** Origin of a page: a key, or a member in the console. */
export type PageOrigin = (typeof PAGE_ORIGINS)[number];

/** Times are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type BioPage = BioPageFields & {
  id: string;
  workspace_id: string;
  slug: string;
  external_id: string | null;
  made_in: PageOrigin;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, workspace_id, slug, title, bio, avatar_url, avatar_width, avatar_height, theme, social_links, is_published,
  show_branding, language, external_id, made_in, metadata, ${isoMicros('created_at')} AS created_at, ${isoMicros('updated_at')} AS updated_at`;

/** Returns the id of a new page. */
export const newBioPageId = uuidv7;

/** Inserts a page. The caller has locked the workspace (creation times are unique in it) and claimed its slug. */
export async function insertBioPage(
  tx: Queryable,
  page: BioPageFields & Pick<BioPage, 'id' | 'workspace_id' | 'slug' | 'external_id' | 'made_in'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO bio_pages (id, workspace_id, slug, external_id, title, bio, avatar_url, theme, social_links,
       is_published, show_branding, metadata, made_in, avatar_width, avatar_height, language, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, at, at
     FROM (SELECT ${nextCreation('bio_pages', '$2')} AS at) AS now`,
    [
      page.id,
      page.workspace_id,
      page.slug,
      page.external_id,
      page.title,
      page.bio,
      page.avatar_url,
      JSON.stringify(page.theme),
      JSON.stringify(page.social_links),
      page.is_published,
      page.show_branding,
      page.metadata && JSON.stringify(page.metadata),
      page.made_in,
      page.avatar_width,
      page.avatar_height,
      page.language,
    ],
  );
}

/** Replaces a page's fields. `updated_at` changes even when nothing differs: its buttons may have changed. */
export async function updateBioPage(
  tx: Queryable,
  workspaceId: string,
  id: string,
  page: BioPageFields,
): Promise<void> {
  await tx.query(
    `UPDATE bio_pages SET title = $3, bio = $4, avatar_url = $5, theme = $6, social_links = $7, is_published = $8,
       show_branding = $9, metadata = $10, avatar_width = $11, avatar_height = $12, language = $13,
       updated_at = GREATEST(clock_timestamp(), created_at)
     WHERE id = $1 AND workspace_id = $2`,
    [
      id,
      workspaceId,
      page.title,
      page.bio,
      page.avatar_url,
      JSON.stringify(page.theme),
      JSON.stringify(page.social_links),
      page.is_published,
      page.show_branding,
      page.metadata && JSON.stringify(page.metadata),
      page.avatar_width,
      page.avatar_height,
      page.language,
    ],
  );
}

/** Deletes a page with its buttons. Its slug stays reserved for its workspace. */
export async function deleteBioPage(tx: Queryable, workspaceId: string, id: string): Promise<void> {
  await tx.query('DELETE FROM bio_pages WHERE id = $1 AND workspace_id = $2', [id, workspaceId]);
}

/** Returns the page with this id, or else with this slug, in the workspace, or null. `madeIn` null: any origin. */
export async function findBioPage(
  db: Queryable,
  workspaceId: string,
  given: { id: string | null; slug: string; madeIn: PageOrigin | null },
): Promise<BioPage | null> {
  const { rows } = await db.query<BioPage>(
    `SELECT ${COLUMNS} FROM bio_pages WHERE workspace_id = $1 AND (id = $2 OR slug = $3)
       AND ($4::text IS NULL OR made_in = $4)
     ORDER BY id = $2 DESC NULLS LAST LIMIT 1`,
    [workspaceId, given.id, given.slug, given.madeIn],
  );
  return rows[0] ?? null;
}

/** Returns the page with this `external_id` in the workspace, or null. */
export async function bioPageByExternalId(
  db: Queryable,
  workspaceId: string,
  externalId: string,
): Promise<BioPage | null> {
  const { rows } = await db.query<BioPage>(
    `SELECT ${COLUMNS} FROM bio_pages WHERE workspace_id = $1 AND external_id = $2`,
    [workspaceId, externalId],
  );
  return rows[0] ?? null;
}

/** Returns pages of the workspace, newest first. `before`: only older ones. `madeIn` null: any origin. */
export async function listBioPages(
  db: Queryable,
  workspaceId: string,
  filter: { before: string | null; externalId: string | null; madeIn: PageOrigin | null; limit: number },
): Promise<BioPage[]> {
  const { rows } = await db.query<BioPage>(
    `SELECT ${COLUMNS} FROM bio_pages
     WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR bio_pages.created_at < $2)
       AND ($3::text IS NULL OR external_id = $3)
       AND ($4::text IS NULL OR made_in = $4)
     ORDER BY bio_pages.created_at DESC LIMIT $5`,
    [workspaceId, filter.before, filter.externalId, filter.madeIn, filter.limit],
  );
  return rows;
}

/**
 * Gives a page the slug of a page that the workspace has deleted. Other workspaces never get it, because the address
 * may be printed.
 *
 * @returns false when the slug names something else, or an existing page
 */
export async function reclaimBioSlug(
  tx: Queryable,
  given: { slug: string; pageId: string; workspaceId: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE slugs SET target_id = $2 WHERE domain_number = 0 AND slug = $1 AND workspace_id = $3 AND kind = 'bio_page'
       AND NOT EXISTS (SELECT 1 FROM bio_pages WHERE bio_pages.id = slugs.target_id)`,
    [given.slug, given.pageId, given.workspaceId],
  );
  return rowCount === 1;
}

/** Returns whether the workspace could create a page with this slug now. */
export async function isBioSlugFree(db: Queryable, workspaceId: string, slug: string): Promise<boolean> {
  const { rows } = await db.query(
    `SELECT 1 FROM slugs WHERE domain_number = 0 AND slug = $1 AND NOT (workspace_id = $2 AND kind = 'bio_page'
       AND NOT EXISTS (SELECT 1 FROM bio_pages WHERE bio_pages.id = slugs.target_id))`,
    [slug, workspaceId],
  );
  return rows.length === 0;
}

/**
 * Returns SQL of the {@link import('../../core/bio/public-page.ts').PublicPage} of a page id, null when there is no
 * published one. A button whose link is on a lost domain gets no link. The text changes only with the page and its
 * links' addresses.
 */
export function publicPageSql(pageId: string): string {
  return `(SELECT json_build_object('title', p.title, 'bio', p.bio, 'avatar_url', p.avatar_url,
      'avatar_width', p.avatar_width, 'avatar_height', p.avatar_height, 'theme', p.theme, 'show_branding', p.show_branding, 'language', p.language, 'social_links', p.social_links,
      'buttons', coalesce((SELECT json_agg(json_build_object('type', b.type, 'label', b.label, 'url', b.url,
          'slug', CASE WHEN ${DOMAIN_IS_OWN} THEN l.slug END, 'domain', o.domain, 'emoji', b.emoji, 'image_url', b.image_url) ORDER BY b.position)
        FROM bio_buttons b LEFT JOIN links l ON l.id = b.link_id AND l.deleted_at IS NULL
          LEFT JOIN domains o ON o.number = l.domain_number
        WHERE b.page_id = p.id), '[]'::json))
    FROM bio_pages p WHERE p.id = ${pageId} AND p.is_published)`;
}
