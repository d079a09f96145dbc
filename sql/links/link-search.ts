import type { Channel } from '../../core/enrich/channels.ts';
import type { Queryable } from '../database/pool.ts';

/** `used_up`: its `max_clicks` are used. An expired link is `expired`, used up or not. */
export const LINK_STATUSES = ['active', 'expired', 'used_up'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/**
 * The creator of a link. `own`: a person or a key. `referral`: a referrer's link. `bio`: a button of a bio page.
 * `program`: the code of a program.
 */
export const LINK_KINDS = ['own', 'referral', 'bio', 'program'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

/** Filters of a search; null: not filtered. */
export type LinkSearch = {
  /** Only these ids; unknown ones are ignored. */
  ids: string[] | null;
  /** Part of the slug, the name or the destination, case-insensitive. */
  text: string | null;
  /** `smart`: Smart Links, which have no channel. */
  channel: Channel | 'smart' | null;
  /** Host; `none`: the deployment's own. */
  domain: string | null;
  /** `none`: in no folder. */
  folder: { id: string } | 'none' | null;
  tag: string | null;
  status: LinkStatus | null;
  kind: LinkKind | null;
  /** Whether archived links are left out, added, or alone. */
  archived: 'exclude' | 'include' | 'only';
};

/** Sort order of links. Ties come newest first. */
export type LinkOrder =
  | { by: 'created' | 'name'; descending: boolean }
  /** By a figure of each link, 0 if it has none. */
  | { by: 'figure'; figures: readonly { linkId: string; value: number }[]; descending: boolean };

export type FoundLink = { id: string; status: LinkStatus };

const STATUS = `CASE
  WHEN l.expires_at <= now() THEN 'expired'
  WHEN l.max_clicks IS NOT NULL
    AND l.used_elsewhere + coalesce((SELECT sum(used) FROM link_leases WHERE link_id = l.id), 0) >= l.max_clicks THEN 'used_up'
  ELSE 'active' END`;

/**
 * Returns one page of the links that match, and their total number.
 *
 * @param page number of rows to skip, and most rows to return
 */
export async function searchLinks(
  db: Queryable,
  workspaceId: string,
  search: LinkSearch,
  order: LinkOrder,
  page: { offset: number; limit: number },
): Promise<{ total: number; links: FoundLink[] }> {
  const values: unknown[] = [workspaceId];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const found = `SELECT l.id, l.created_at, d.name, ${STATUS} AS status
    FROM links l JOIN destinations d ON d.id = l.destination_id
    WHERE l.workspace_id = $1 AND l.deleted_at IS NULL${conditionsOf(search, parameter)}`;
  const status = search.status === null ? 'true' : `status = ${parameter(search.status)}`;
  const counted = [...values];
  const direction = order.descending ? 'DESC' : 'ASC';
  const { rows } = await db.query<FoundLink & { total: string }>(
    `WITH found AS (${found})
     SELECT found.id, status, count(*) OVER () AS total FROM found ${joinOf(order, parameter)}
     WHERE ${status} ORDER BY ${SORT_KEYS[order.by]} ${direction}, created_at ${order.by === 'created' ? direction : 'DESC'}
     LIMIT ${parameter(page.limit)} OFFSET ${parameter(page.offset)}`,
    values,
  );
  const links = rows.map(({ id, status }) => ({ id, status }));
  const [first] = rows;
  if (first) return { total: Number(first.total), links };
  // Beyond the last page no row has the total.
  const count = await db.query<{ total: string }>(
    `WITH found AS (${found}) SELECT count(*) AS total FROM found WHERE ${status}`,
    counted,
  );
  return { total: Number(count.rows[0]?.total ?? 0), links };
}

const SORT_KEYS = { created: 'created_at', name: 'lower(name)', figure: 'coalesce(figure.value, 0)' };

const IS_CODE = 'EXISTS (SELECT FROM programs p WHERE p.id = l.id)';
/** A Smart Link has no channel. */
const KINDS: Record<LinkKind, string> = {
  own: `coalesce(l.channel, '') NOT IN ('referral', 'bio') AND NOT ${IS_CODE}`,
  referral: `l.channel = 'referral' AND NOT ${IS_CODE}`,
  bio: `l.channel = 'bio'`,
  program: IS_CODE,
};

function conditionsOf(search: LinkSearch, parameter: (value: unknown) => string): string {
  const conditions: string[] = [];
  if (search.ids !== null) conditions.push(`l.id = ANY (${parameter(search.ids)})`);
  if (search.text !== null) {
    const text = parameter(search.text);
    // position() knows no wildcards, so nothing needs escaping.
    const has = (column: string) => `position(lower(${text}) in lower(${column})) > 0`;
    conditions.push(`(${has('l.slug')} OR ${has('d.name')} OR ${has('d.destination_url')})`);
  }
  if (search.channel === 'smart') conditions.push('l.channel IS NULL');
  else if (search.channel !== null) conditions.push(`l.channel = ${parameter(search.channel)}`);
  if (search.domain !== null) conditions.push(domainCondition(search.domain, parameter));
  if (search.folder === 'none') conditions.push('d.folder_id IS NULL');
  else if (search.folder !== null) conditions.push(`d.folder_id = ${parameter(search.folder.id)}`);
  if (search.kind !== null) conditions.push(KINDS[search.kind]);
  if (search.archived === 'only') conditions.push('l.archived');
  else if (search.archived === 'exclude' && search.ids === null) conditions.push('NOT l.archived');
  if (search.tag !== null) conditions.push(`${parameter(search.tag)} = ANY (d.tags)`);
  return conditions.map((condition) => ` AND ${condition}`).join('');
}

/**
 * Returns the condition of links on a domain of the workspace, which is `$1`.
 *
 * @param domain host; `none`: the deployment's own
 */
export function domainCondition(domain: string, parameter: (value: unknown) => string): string {
  if (domain === 'none') return 'l.domain_number = 0';
  const host = parameter(domain.toLowerCase());
  return `l.domain_number = (SELECT number FROM domains WHERE workspace_id = $1 AND domain = ${host})`;
}

function joinOf(order: LinkOrder, parameter: (value: unknown) => string): string {
  if (order.by !== 'figure') return '';
  const ids = parameter(order.figures.map(({ linkId }) => linkId));
  const figures = parameter(order.figures.map(({ value }) => value));
  return `LEFT JOIN unnest(${ids}::uuid[], ${figures}::float8[]) AS figure (link_id, value) ON figure.link_id = found.id`;
}

/** A tag and how many links have it. */
export type TagUse = { tag: string; links: number };

/** Returns the tags of the workspace's links, the most used first. */
export async function tagsInUse(db: Queryable, workspaceId: string, limit: number): Promise<TagUse[]> {
  const { rows } = await db.query<{ tag: string; links: string }>(
    `SELECT tag, count(*) AS links
     FROM links l JOIN destinations d ON d.id = l.destination_id, unnest(d.tags) AS tag
     WHERE l.workspace_id = $1 AND l.deleted_at IS NULL
     GROUP BY tag ORDER BY links DESC, tag LIMIT $2`,
    [workspaceId, limit],
  );
  return rows.map(({ tag, links }) => ({ tag, links: Number(links) }));
}
