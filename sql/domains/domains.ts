import { randomBytes } from 'node:crypto';
import { uuidv7 } from '../../core/ids.ts';
import { conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { OWN_DOMAIN } from '../links/slugs.ts';

/** `failing`: proven, but its record has been missing for days. */
export const DOMAIN_STATUSES = ['pending', 'verified', 'failing'] as const;
export type DomainStatus = (typeof DOMAIN_STATUSES)[number];

/**
 * SQL: the domain of a link, joined as `o`, belongs to the workspace, and is not lost to another one. Null: the
 * deployment's own.
 */
export const DOMAIN_IS_OWN = "o.status IS DISTINCT FROM 'pending'";

type Json = Record<string, unknown> | unknown[];

/** A domain of a workspace. Times are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Domain = {
  id: string;
  /** Part of each name on the domain; see `slugs`. */
  number: number;
  workspace_id: string;
  /** Lower-case host name in ASCII. */
  domain: string;
  status: DomainStatus;
  is_default: boolean;
  root_url: string | null;
  not_found_url: string | null;
  expired_url: string | null;
  apple_app_site_association: Json | null;
  assetlinks: Json | null;
  /** Value of the TXT record that proves it. */
  proof: string;
  verified_at: string | null;
  last_checked_at: string | null;
  missing_since: string | null;
  problem: string | null;
  created_at: string;
  updated_at: string;
};

const COLUMNS = `id, number, workspace_id, domain, status, is_default, root_url, not_found_url, expired_url,
  apple_app_site_association, assetlinks, proof, ${isoMicros('verified_at')} AS verified_at,
  ${isoMicros('last_checked_at')} AS last_checked_at, ${isoMicros('missing_since')} AS missing_since, problem,
  ${isoMicros('created_at')} AS created_at, ${isoMicros('updated_at')} AS updated_at`;

/** Returns the domains of a workspace, newest first. */
export async function listDomains(
  db: Queryable,
  workspaceId: string,
  page: { before: string | null; limit: number },
): Promise<Domain[]> {
  const { add, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `created_at < ${p}`, page.before);
  const { rows } = await db.query<Domain>(
    `SELECT ${COLUMNS} FROM domains WHERE workspace_id = $1${text()} ORDER BY created_at DESC LIMIT ${parameter(page.limit)}`,
    values,
  );
  return rows;
}

/** Returns the domain with this id in the workspace, or null. */
export async function domainById(db: Queryable, workspaceId: string, id: string): Promise<Domain | null> {
  const { rows } = await db.query<Domain>(
    `SELECT ${COLUMNS} FROM domains WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** {@link domainById}, locked until the transaction ends. */
export async function lockDomain(tx: Queryable, workspaceId: string, id: string): Promise<Domain | null> {
  const { rows } = await tx.query<Domain>(
    `SELECT ${COLUMNS} FROM domains WHERE workspace_id = $1 AND id = $2 FOR UPDATE`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** Returns a domain of any workspace, locked until the transaction ends, or null. */
export async function lockDomainById(tx: Queryable, id: string): Promise<Domain | null> {
  const { rows } = await tx.query<Domain>(`SELECT ${COLUMNS} FROM domains WHERE id = $1 FOR UPDATE`, [id]);
  return rows[0] ?? null;
}

/** Returns the entries of a host in all workspaces, the proven one first. */
export async function domainsNamed(db: Queryable, domain: string): Promise<Domain[]> {
  const { rows } = await db.query<Domain>(
    `SELECT ${COLUMNS} FROM domains WHERE domain = $1 ORDER BY status = 'pending', created_at`,
    [domain],
  );
  return rows;
}

export async function countDomains(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM domains WHERE workspace_id = $1',
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Adds a host that is yet to be proven. The caller has locked the workspace. */
export async function insertDomain(
  tx: Queryable,
  workspaceId: string,
  given: Pick<
    Domain,
    'domain' | 'root_url' | 'not_found_url' | 'expired_url' | 'apple_app_site_association' | 'assetlinks'
  >,
): Promise<Domain> {
  const { rows } = await tx.query<Domain>(
    `INSERT INTO domains (id, workspace_id, domain, root_url, not_found_url, expired_url,
       apple_app_site_association, assetlinks, proof)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      workspaceId,
      given.domain,
      given.root_url,
      given.not_found_url,
      given.expired_url,
      jsonText(given.apple_app_site_association),
      jsonText(given.assetlinks),
      `hoplog-verification=${randomBytes(20).toString('hex')}`,
    ],
  );
  const [made] = rows;
  if (!made) throw new Error('the domain was not inserted');
  return made;
}

export type DomainChange = Partial<
  Pick<
    Domain,
    | 'status'
    | 'is_default'
    | 'root_url'
    | 'not_found_url'
    | 'expired_url'
    | 'apple_app_site_association'
    | 'assetlinks'
    | 'verified_at'
    | 'last_checked_at'
    | 'missing_since'
    | 'problem'
  >
>;

/** Changes the given fields of a domain. @returns the domain, or null when it does not exist */
export async function updateDomain(tx: Queryable, id: string, change: DomainChange): Promise<Domain | null> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const assignments = given.map(([name], index) => `${name} = $${index + 2}`);
  const { rows } = await tx.query<Domain>(
    `UPDATE domains SET ${[...assignments, 'updated_at = clock_timestamp()'].join(', ')}
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [id, ...given.map(([, value]) => (typeof value === 'object' ? jsonText(value) : value))],
  );
  return rows[0] ?? null;
}

/**
 * Makes a proven domain the default of new links. The caller has locked the workspace.
 *
 * @param host null: the deployment's own
 * @returns false, and nothing changed, when the workspace has no such proven domain
 */
export async function chooseDefaultDomain(
  tx: Queryable,
  workspaceId: string,
  host: string | null,
): Promise<boolean> {
  const chosen = (await linkDomains(tx, workspaceId)).find(({ domain }) => domain === host);
  if (host !== null && !chosen) return false;
  if (chosen?.is_default) return true;
  await clearDefaultDomain(tx, workspaceId);
  if (!chosen) return true;
  await tx.query('UPDATE domains SET is_default = true, updated_at = clock_timestamp() WHERE number = $1', [
    chosen.number,
  ]);
  return true;
}

/** Makes no domain of the workspace the default of new links. */
export async function clearDefaultDomain(tx: Queryable, workspaceId: string): Promise<void> {
  await tx.query(
    `UPDATE domains SET is_default = false, updated_at = clock_timestamp() WHERE workspace_id = $1 AND is_default`,
    [workspaceId],
  );
}

/** A domain where the workspace can make links. `domain` null: the deployment's own. */
export type LinkDomain = Pick<Domain, 'number' | 'is_default'> & { domain: string | null };

export const DEPLOYMENT_DOMAIN: LinkDomain = { number: OWN_DOMAIN, domain: null, is_default: false };

/** Returns the proven domains of a workspace, oldest first. */
export async function linkDomains(db: Queryable, workspaceId: string): Promise<LinkDomain[]> {
  // Prepared: every create runs it, and most workspaces have none.
  const { rows } = await db.query<LinkDomain>({
    name: 'link_domains',
    text: `SELECT number, domain, is_default FROM domains WHERE workspace_id = $1 AND status <> 'pending'
      ORDER BY created_at`,
    values: [workspaceId],
  });
  return rows;
}

/** Returns the hosts of {@link linkDomains}. */
export async function linkHosts(db: Queryable, workspaceId: string): Promise<string[]> {
  return (await linkDomains(db, workspaceId)).flatMap(({ domain }) => domain ?? []);
}

/** Returns the domain of new links that name none. */
export async function defaultDomain(db: Queryable, workspaceId: string): Promise<LinkDomain> {
  return (await linkDomains(db, workspaceId)).find(({ is_default }) => is_default) ?? DEPLOYMENT_DOMAIN;
}

function jsonText(value: Json | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
