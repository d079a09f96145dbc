import type { Channel } from '../../core/enrich/channels.ts';
import { uuidv7 } from '../../core/ids.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import type { Destination } from './destinations.ts';
import { domainCondition } from './link-search.ts';
import { type LinkSettings, SETTING_COLUMNS } from './link-settings.ts';

/** A link with its campaign. Times are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Link = LinkSettings & {
  id: string;
  workspace_id: string;
  destination_id: string;
  /** `number` of its domain; 0: the deployment's own. */
  domain_number: number;
  /** Host of its domain; null: the deployment's own. */
  domain: string | null;
  slug: string;
  /** Null: a Smart Link. */
  channel: Channel | null;
  external_id: string | null;
  metadata: Record<string, unknown> | null;
  utm_source: string | null;
  utm_medium: string | null;
  /** Id of the variant that all visitors get; null: not decided. */
  split_winner: string | null;
  /** Before it, visitors get the response of an unknown slug. ISO 8601. */
  starts_at: string | null;
  /** Hidden in lists; it still redirects. */
  archived: boolean;
  created_at: string;
  /** The later of the link's and its campaign's last change. */
  updated_at: string;
  name: string;
  destination_url: string;
  external: boolean;
  tags: string[];
  folder_id: string | null;
};

const selectSetting = (name: string, type: string) =>
  type === 'timestamptz' ? `${isoMicros(`l.${name}`)} AS ${name}` : `l.${name}`;

const SELECT = `SELECT l.id, l.workspace_id, l.destination_id, l.domain_number, o.domain, l.slug, l.channel,
    l.external_id, l.metadata, l.utm_source, l.utm_medium, l.split_winner,
    ${isoMicros('l.starts_at')} AS starts_at, l.archived,
    ${Object.entries(SETTING_COLUMNS)
      .map(([name, type]) => selectSetting(name, type))
      .join(', ')},
    ${isoMicros('l.created_at')} AS created_at,
    ${isoMicros('GREATEST(l.updated_at, d.updated_at)')} AS updated_at,
    d.name, d.destination_url, d.external, d.tags, d.folder_id
  FROM links l JOIN destinations d ON d.id = l.destination_id LEFT JOIN domains o ON o.number = l.domain_number
  WHERE l.workspace_id = $1 AND l.deleted_at IS NULL`;

export type NewLink = LinkSettings &
  Pick<
    Link,
    | 'id'
    | 'domain'
    | 'slug'
    | 'channel'
    | 'external_id'
    | 'metadata'
    | 'utm_source'
    | 'utm_medium'
    | 'starts_at'
    | 'archived'
  > &
  Pick<Link, 'domain_number'> & { campaign: Destination };

/** Columns of a new link, with their types. */
const INSERTED = {
  id: 'uuid',
  destination_id: 'uuid',
  domain_number: 'integer',
  slug: 'text',
  channel: 'text',
  external_id: 'text',
  metadata: 'jsonb',
  utm_source: 'text',
  utm_medium: 'text',
  starts_at: 'timestamptz',
  archived: 'boolean',
  ...SETTING_COLUMNS,
};
const INSERTED_NAMES = Object.keys(INSERTED).join(', ');
const INSERTED_TYPES = Object.entries(INSERTED)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');

/**
 * Inserts links of the workspace's campaigns. The caller has locked the workspace (creation times are unique in it)
 * and claimed the slugs.
 *
 * @returns the links in the order given, which is the order of their creation times
 * @throws a unique violation of `links_external_id` when an `external_id` is taken
 */
export async function insertLinks(tx: Queryable, workspaceId: string, given: NewLink[]): Promise<Link[]> {
  const { rows } = await tx.query<{ id: string; created_at: string }>(
    `WITH base AS (SELECT next_link_time($1) AS at)
     INSERT INTO links (workspace_id, ${INSERTED_NAMES}, created_at, updated_at)
     SELECT $1, ${INSERTED_NAMES}, base.at + nth * interval '1 microsecond', base.at + nth * interval '1 microsecond'
     FROM base, ROWS FROM (json_to_recordset($2) AS (${INSERTED_TYPES})) WITH ORDINALITY AS given (${INSERTED_NAMES}, nth)
     RETURNING id, ${isoMicros('created_at')} AS created_at`,
    [
      workspaceId,
      JSON.stringify(given.map(({ campaign, ...link }) => ({ ...link, destination_id: campaign.id }))),
    ],
  );
  const createdAt = new Map(rows.map((row) => [row.id, row.created_at]));
  return given.map(({ campaign, ...link }) => {
    const created_at = createdAt.get(link.id);
    if (created_at === undefined) throw new Error(`link ${link.id} was not inserted`);
    const { id: destination_id, ...ofCampaign } = campaign;
    return { ...ofCampaign, ...link, destination_id, split_winner: null, created_at, updated_at: created_at };
  });
}

/** Returns the id of a new link. */
export const newLinkId = uuidv7;

/** Returns the links with these ids in the workspace, in no order; unknown and deleted ones are left out. */
export async function linksByIds(db: Queryable, workspaceId: string, ids: string[]): Promise<Link[]> {
  // Prepared: planning takes as long as finding a hundred links.
  const { rows } = await db.query<Link>({
    name: 'links_by_ids',
    text: `${SELECT} AND l.id = ANY ($2)`,
    values: [workspaceId, ids],
  });
  return rows;
}

/** A link in a list of figures. */
export type NamedLink = Pick<Link, 'id' | 'domain' | 'slug' | 'channel' | 'destination_url' | 'archived'>;

/** {@link linksByIds} with fewer columns: a hundred whole links take longer to serialize than to find. */
export async function namedLinksByIds(
  db: Queryable,
  workspaceId: string,
  ids: string[],
): Promise<NamedLink[]> {
  const { rows } = await db.query<NamedLink>({
    name: 'named_links_by_ids',
    text: `SELECT l.id, o.domain, l.slug, l.channel, d.destination_url, l.archived
      FROM links l JOIN destinations d ON d.id = l.destination_id LEFT JOIN domains o ON o.number = l.domain_number
      WHERE l.workspace_id = $1 AND l.deleted_at IS NULL AND l.id = ANY ($2)`,
    values: [workspaceId, ids],
  });
  return rows;
}

/** Returns the link with this id in the workspace, or null. */
export async function linkById(db: Queryable, workspaceId: string, id: string): Promise<Link | null> {
  return (await linksByIds(db, workspaceId, [id]))[0] ?? null;
}

/** Returns the link with this `external_id` in the workspace, or null. */
export async function linkByExternalId(
  db: Queryable,
  workspaceId: string,
  externalId: string,
): Promise<Link | null> {
  return (await linksByExternalIds(db, workspaceId, [externalId]))[0] ?? null;
}

/** Returns the links of the workspace with these `external_id`s, in no order; unknown and deleted ones are left out. */
export async function linksByExternalIds(
  db: Queryable,
  workspaceId: string,
  externalIds: string[],
): Promise<Link[]> {
  const { rows } = await db.query<Link>(`${SELECT} AND l.external_id = ANY ($2)`, [workspaceId, externalIds]);
  return rows;
}

/** Returns the links of the workspace with exactly these slugs, in no order; unknown and deleted ones are left out. */
export async function linksBySlugs(db: Queryable, workspaceId: string, slugs: string[]): Promise<Link[]> {
  const { rows } = await db.query<Link>(`${SELECT} AND l.slug = ANY ($2)`, [workspaceId, slugs]);
  return rows;
}

/** Returns the links of a campaign, oldest first. */
export async function linksOfDestination(
  db: Queryable,
  workspaceId: string,
  destinationId: string,
): Promise<Link[]> {
  const { rows } = await db.query<Link>(`${SELECT} AND l.destination_id = $2 ORDER BY l.created_at`, [
    workspaceId,
    destinationId,
  ]);
  return rows;
}

export type LinkFilter = {
  /** Only these ids; unknown ones are ignored. */
  ids: string[] | null;
  channel: Channel | null;
  /** Host; `none`: the deployment's own. */
  domain: string | null;
  destinationId: string | null;
  /** Part of the slug, case-insensitive. */
  slugPart: string | null;
  externalId: string | null;
  /** ISO 8601 with microseconds: older ones only. */
  before: string | null;
  withArchived: boolean;
  limit: number;
};

/** Returns the links of a workspace that pass the filter, newest first. */
export async function listLinks(db: Queryable, workspaceId: string, filter: LinkFilter): Promise<Link[]> {
  const values: unknown[] = [workspaceId];
  const conditions: string[] = [];
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value === null) return;
    values.push(value);
    conditions.push(` AND ${condition(`$${values.length}`)}`);
  };
  add((p) => `l.id = ANY (${p})`, filter.ids);
  add((p) => `l.channel = ${p}`, filter.channel);
  if (filter.domain !== null) {
    conditions.push(` AND ${domainCondition(filter.domain, (value) => `$${values.push(value)}`)}`);
  }
  add((p) => `l.destination_id = ${p}`, filter.destinationId);
  // position() knows no wildcards, so nothing needs escaping.
  add((p) => `position(lower(${p}) in lower(l.slug)) > 0`, filter.slugPart);
  add((p) => `l.external_id = ${p}`, filter.externalId);
  add((p) => `l.created_at < ${p}`, filter.before);
  if (!filter.withArchived) conditions.push(' AND NOT l.archived');
  values.push(filter.limit);
  const { rows } = await db.query<Link>(
    `${SELECT}${conditions.join('')} ORDER BY l.created_at DESC LIMIT $${values.length}`,
    values,
  );
  return rows;
}

/**
 * Returns the link as it is now, locked until the transaction ends, or null.
 */
export async function lockLink(tx: Queryable, workspaceId: string, id: string): Promise<Link | null> {
  const { rows } = await tx.query<Link>(`${SELECT} AND l.id = $2 FOR NO KEY UPDATE OF l, d`, [
    workspaceId,
    id,
  ]);
  return rows[0] ?? null;
}

export type LinkChange = Partial<
  LinkSettings &
    Pick<
      Link,
      | 'domain_number'
      | 'slug'
      | 'external_id'
      | 'metadata'
      | 'split_winner'
      | 'utm_source'
      | 'utm_medium'
      | 'starts_at'
      | 'archived'
    >
>;

const CHANGED = {
  domain_number: 'integer',
  slug: 'text',
  external_id: 'text',
  metadata: 'jsonb',
  split_winner: 'text',
  utm_source: 'text',
  utm_medium: 'text',
  starts_at: 'timestamptz',
  archived: 'boolean',
  ...SETTING_COLUMNS,
};
const CHANGEABLE = Object.keys(CHANGED) as (keyof typeof CHANGED & keyof LinkChange)[];

/**
 * Changes the given fields of a link and leaves the others.
 *
 * @throws a unique violation of `links_external_id` when the `external_id` is taken
 */
export async function updateLink(
  tx: Queryable,
  workspaceId: string,
  id: string,
  change: LinkChange,
): Promise<void> {
  const names = CHANGEABLE.filter((name) => change[name] !== undefined);
  if (names.length === 0) return;
  const assignments = names.map((name, index) => `${name} = $${index + 3}`).join(', ');
  await tx.query(
    `UPDATE links SET ${assignments}, updated_at = clock_timestamp() WHERE id = $1 AND workspace_id = $2`,
    [id, workspaceId, ...names.map((name) => columnValue(CHANGED[name], change[name]))],
  );
}

/** Encodes JSON here, because the driver would send an array as PostgreSQL's array type. */
function columnValue(type: string, value: unknown): unknown {
  return type === 'jsonb' && value !== null ? JSON.stringify(value) : value;
}

/**
 * Deletes a link: it stops redirecting and leaves every list. Its row stays for the history of its clicks, and its
 * slug stays reserved.
 *
 * @returns false when the workspace has none with this id
 */
export async function deleteLink(db: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE links SET deleted_at = clock_timestamp(), updated_at = clock_timestamp()
     WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NULL`,
    [id, workspaceId],
  );
  return rowCount === 1;
}

/**
 * Restores a deleted link under its slug. It loses its `external_id` when another link has that now. The caller has
 * locked the workspace.
 */
export async function restoreLink(tx: Queryable, workspaceId: string, id: string): Promise<void> {
  await tx.query(
    `UPDATE links SET deleted_at = NULL, updated_at = clock_timestamp(),
       external_id = CASE WHEN NOT EXISTS (SELECT FROM links AS other
           WHERE other.workspace_id = links.workspace_id AND other.external_id = links.external_id
             AND other.deleted_at IS NULL)
         THEN external_id END
     WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NOT NULL`,
    [id, workspaceId],
  );
}
