import type { PublicPage } from '../../core/bio/public-page.ts';
import type { Language } from '../../core/languages/languages.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { Tracking } from '../../core/tracking/tracking.ts';
import { publicPageSql } from '../bio/pages.ts';
import type { Queryable } from '../database/pool.ts';
import type { LinkSettings } from './link-settings.ts';
import type { Name } from './slugs.ts';

/**
 * Links, programs, pages and keys as the redirect needs them, across workspaces: a visitor's request has only a slug.
 */

/** A live link with its campaign's destination, as the redirect needs it. */
export type LinkTableRow = Omit<LinkSettings, 'split_ends_at' | 'split_goal' | 'expires_at'> & {
  id: string;
  workspace_id: string;
  domain_number: number;
  slug: string;
  destination_url: string;
  /** Null: a Smart Link. */
  channel: string | null;
  utm_source: string | null;
  utm_medium: string | null;
  extra_query: string | null;
  /** Id of the variant that all visitors get. */
  split_winner: string | null;
  /** Milliseconds since the epoch. */
  expires_at: number | null;
  /** Milliseconds since the epoch. */
  starts_at: number | null;
  /** By the operator. */
  is_blocked: boolean;
};

/** A slug of a page, a program, or an alias, or a prefix of slugs; in the form of its key. */
export type OtherSlugRow = Name & {
  id: string;
  workspace_id: string;
  kind: 'bio_page' | 'program' | 'alias' | 'prefix';
  /** Null: a program, an alias, a prefix, or an unpublished page. */
  page: PublicPage | null;
  /** The present name of an alias's link. */
  target: Name | null;
};

/** A proven domain, with its workspace's settings for it. */
export type DomainRow = {
  id: string;
  workspace_id: string;
  number: number;
  domain: string;
  root_url: string | null;
  not_found_url: string | null;
  expired_url: string | null;
  /** JSON text. */
  apple_app_site_association: string | null;
  assetlinks: string | null;
};

/**
 * A workspace whose policy differs from the default: it is suspended, tracks less, has programs with other link
 * parameters, restricts its publishable keys to pages of some origins, or sets the language of visitors' pages.
 */
export type WorkspacePolicyRow = {
  id: string;
  suspended: boolean;
  tracking: Tracking;
  /** Of all programs. Null: the default ones. */
  link_parameters: string[] | null;
  /** Empty: any. */
  allowed_origins: string[];
  /** The language of visitors' pages. Null: each visitor's own. */
  language: Language | null;
};

/** A publishable key that has not been revoked. */
export type PublishableKeyRow = { id: string; lookup: string; hash: Buffer; workspace_id: string };

/** Columns of a {@link LinkTableRow}, of `links l` and `destinations d`. */
export const LINK_COLUMNS = `l.id, l.workspace_id, l.domain_number, l.slug, d.destination_url, l.channel, l.utm_source,
    l.utm_medium, l.utm_campaign, l.extra_query, l.targeting, l.rules, l.split, l.split_winner,
    floor(extract(epoch FROM l.expires_at) * 1000)::float8 AS expires_at,
    l.max_clicks, l.expired_redirect_url, l.password_hash, l.retargeting, l.preview, l.redirect_status,
    l.forward_query, l.forward_path, l.append_utm, l.append_visitor, l.utm_term, l.utm_content,
    floor(extract(epoch FROM l.starts_at) * 1000)::float8 AS starts_at,
    l.blocked_at IS NOT NULL AS is_blocked`;

const LINKS = `SELECT ${LINK_COLUMNS} FROM links l JOIN destinations d ON d.id = l.destination_id
  WHERE l.deleted_at IS NULL`;

const OTHERS = `SELECT coalesce(s.alias_id, s.target_id) AS id, s.workspace_id, s.domain_number AS "domainNumber", s.slug,
    s.kind, ${publicPageSql('s.target_id')} AS page, t.target
  FROM slugs s LEFT JOIN LATERAL (SELECT json_build_object('domainNumber', domain_number, 'slug', slug) AS target
    FROM links WHERE id = s.target_id AND s.kind = 'alias' AND deleted_at IS NULL) t ON true
  WHERE s.kind <> 'link' AND (s.kind <> 'bio_page' OR EXISTS (SELECT 1 FROM bio_pages WHERE id = s.target_id))
    AND (s.kind <> 'alias' OR t.target IS NOT NULL)`;

const KEYS = `SELECT id, lookup, hash, workspace_id FROM api_keys
  WHERE kind = 'publishable' AND revoked_at IS NULL`;

/** The lowest UUID: start of a walk by id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A page of live links in order of id. `next`: start of the following page, null after the last. */
export type LinkPage = { links: LinkTableRow[]; next: string | null };

/** Returns the live ones among the next `limit` links in order of id. */
export async function linksAfter(db: Queryable, id: string, limit: number): Promise<LinkPage> {
  // Reads the page by the primary key alone, then each campaign. With any other condition, or a plain join, PostgreSQL
  // without fresh statistics sorts the whole table for each page.
  const { rows } = await db.query<LinkTableRow & { deleted: boolean }>(
    `SELECT ${LINK_COLUMNS}, l.deleted_at IS NOT NULL AS deleted
     FROM (SELECT * FROM links WHERE id > $1 ORDER BY id LIMIT $2) l
     CROSS JOIN LATERAL (SELECT destination_url FROM destinations WHERE id = l.destination_id LIMIT 1) d
     ORDER BY l.id`,
    [id, limit],
  );
  const next = rows.length < limit ? null : (rows.at(-1)?.id ?? null);
  return { links: rows.filter((row) => !row.deleted), next };
}

/** Returns the live ones among these links. */
export async function linksWithIds(db: Queryable, ids: string[]): Promise<LinkTableRow[]> {
  const { rows } = await db.query<LinkTableRow>(`${LINKS} AND l.id = ANY ($1)`, [ids]);
  return rows;
}

/** Returns the live links of these campaigns. */
export async function linksOfDestinations(db: Queryable, ids: string[]): Promise<LinkTableRow[]> {
  const { rows } = await db.query<LinkTableRow>(`${LINKS} AND l.destination_id = ANY ($1)`, [ids]);
  return rows;
}

/** Returns the live links that these names have, case-insensitive. */
export async function linksWithNames(db: Queryable, names: Name[]): Promise<LinkTableRow[]> {
  // A prepared statement, because visitors wait for it, and planning takes longer than running. LATERAL, because the
  // plan is made without knowing the number of slugs.
  const { rows } = await db.query<LinkTableRow>({
    name: 'links_by_name',
    text: `SELECT ${LINK_COLUMNS} FROM unnest($1::integer[], $2::text[]) AS wanted (domain, slug)
      CROSS JOIN LATERAL (SELECT target_id FROM slugs
        WHERE domain_number = wanted.domain AND slug = wanted.slug AND kind = 'link' LIMIT 1) s
      CROSS JOIN LATERAL (SELECT * FROM links WHERE id = s.target_id AND deleted_at IS NULL LIMIT 1) l
      CROSS JOIN LATERAL (SELECT destination_url FROM destinations WHERE id = l.destination_id LIMIT 1) d`,
    values: [names.map(({ domainNumber }) => domainNumber), names.map(({ slug }) => slugKey(slug))],
  });
  return rows;
}

/**
 * Returns the next slugs of pages, programs and aliases in order of name. Fewer than `limit`: these were the last.
 */
export async function otherSlugsAfter(db: Queryable, name: Name, limit: number): Promise<OtherSlugRow[]> {
  const { rows } = await db.query<OtherSlugRow>(
    `${OTHERS} AND (s.domain_number, s.slug) > ($1, $2) ORDER BY s.domain_number, s.slug LIMIT $3`,
    [name.domainNumber, name.slug, limit],
  );
  return rows;
}

/** Returns the slugs of these pages and programs, and of these aliases. */
export async function otherSlugsOf(db: Queryable, ids: string[]): Promise<OtherSlugRow[]> {
  const { rows } = await db.query<OtherSlugRow>(
    `${OTHERS} AND ((s.target_id = ANY ($1) AND s.alias_id IS NULL) OR s.alias_id = ANY ($1))`,
    [ids],
  );
  return rows;
}

/** Returns the pages, programs and aliases that these names have, case-insensitive. */
export async function othersWithNames(db: Queryable, names: Name[]): Promise<OtherSlugRow[]> {
  const { rows } = await db.query<OtherSlugRow>(
    `${OTHERS} AND (s.domain_number, s.slug) IN (SELECT * FROM unnest($1::integer[], $2::text[]))`,
    [names.map(({ domainNumber }) => domainNumber), names.map(({ slug }) => slugKey(slug))],
  );
  return rows;
}

const DOMAINS = `SELECT id, workspace_id, number, domain, root_url, not_found_url, expired_url,
    apple_app_site_association::text AS apple_app_site_association, assetlinks::text AS assetlinks
  FROM domains WHERE status <> 'pending'`;

/** Returns the next proven domains in order of id. Fewer than `limit`: these were the last. */
export async function domainsAfter(db: Queryable, id: string, limit: number): Promise<DomainRow[]> {
  const { rows } = await db.query<DomainRow>(`${DOMAINS} AND id > $1 ORDER BY id LIMIT $2`, [id, limit]);
  return rows;
}

/** Returns the proven ones among these domains. */
export async function domainsWithIds(db: Queryable, ids: string[]): Promise<DomainRow[]> {
  const { rows } = await db.query<DomainRow>(`${DOMAINS} AND id = ANY ($1)`, [ids]);
  return rows;
}

const POLICIES = `SELECT id, suspended_at IS NOT NULL AS suspended, tracking, allowed_origins, link_parameters, language
  FROM workspaces CROSS JOIN LATERAL (
    SELECT CASE WHEN bool_or(p.link_parameters <> '{ref,via}') THEN
        ARRAY(SELECT DISTINCT unnest(q.link_parameters) FROM programs q WHERE q.workspace_id = workspaces.id ORDER BY 1)
      END AS link_parameters
    FROM programs p WHERE p.workspace_id = workspaces.id
  ) AS of_programs
  WHERE (suspended_at IS NOT NULL OR tracking <> 'full' OR link_parameters IS NOT NULL
    OR allowed_origins <> '{}' OR language IS NOT NULL)`;

/** Returns every workspace with a policy. */
export async function workspacePolicies(db: Queryable): Promise<WorkspacePolicyRow[]> {
  const { rows } = await db.query<WorkspacePolicyRow>(POLICIES);
  return rows;
}

/** Returns those among these workspaces that have a policy. */
export async function policiesAmong(db: Queryable, ids: string[]): Promise<WorkspacePolicyRow[]> {
  const { rows } = await db.query<WorkspacePolicyRow>(`${POLICIES} AND id = ANY ($1)`, [ids]);
  return rows;
}

/** Returns the next publishable keys in order of id. Fewer than `limit`: these were the last. */
export async function publishableKeysAfter(
  db: Queryable,
  id: string,
  limit: number,
): Promise<PublishableKeyRow[]> {
  const { rows } = await db.query<PublishableKeyRow>(`${KEYS} AND id > $1 ORDER BY id LIMIT $2`, [id, limit]);
  return rows;
}

/** Returns the publishable, unrevoked ones among these keys. */
export async function publishableKeysWithIds(db: Queryable, ids: string[]): Promise<PublishableKeyRow[]> {
  const { rows } = await db.query<PublishableKeyRow>(`${KEYS} AND id = ANY ($1)`, [ids]);
  return rows;
}

/** Returns the publishable, unrevoked keys with these lookups. */
export async function publishableKeysWithLookups(
  db: Queryable,
  lookups: string[],
): Promise<PublishableKeyRow[]> {
  const { rows } = await db.query<PublishableKeyRow>(`${KEYS} AND lookup = ANY ($1)`, [lookups]);
  return rows;
}
