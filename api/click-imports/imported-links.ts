import type { LinkName } from '../../core/click-imports/click-row.ts';
import type { ImportedLink } from '../../core/click-imports/enrich-row.ts';
import { linkBySlug } from '../../core/click-imports/values.ts';
import { badRequest } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { hostOfUrl } from '../../core/link-imports/meaning/address.ts';
import { slugKey } from '../../core/links/slugs.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { listDomains } from '../../sql/domains/domains.ts';
import { linksOfIds, linksOfNames, type NamedLink } from '../../sql/links/links-of-names.ts';
import { OWN_DOMAIN } from '../../sql/links/slugs.ts';

/** More domains than a workspace has. */
const MANY = { before: null, limit: 10_000 };

/** Finds the links that rows of an import name. */
export type LinkFinder = {
  /** Looks up the names that are new. */
  prepare(names: Iterable<LinkName>): Promise<void>;
  /** Returns the link of a prepared name, or the problem of the name. */
  find(name: LinkName): ImportedLink | string;
};

/** Links for rows that name no link, or whose domain the workspace does not have. */
export type LinkDefaults = {
  /** An id, a slug or a short URL. */
  link?: string | undefined;
  /** A host. */
  domain?: string | undefined;
};

/**
 * Creates a finder of links of a workspace.
 *
 * @param shortUrl the deployment's own origin of short links
 * @returns the finder, and the link of rows that name none
 * @throws {AppError} `bad_request` for a default that the workspace does not have
 */
export async function createLinkFinder(
  db: Queryable,
  workspaceId: string,
  shortUrl: string,
  defaults: LinkDefaults,
): Promise<{ finder: LinkFinder; link: LinkName | null }> {
  const hosts = new Map([[new URL(shortUrl).hostname, OWN_DOMAIN]]);
  const names = new Map<number, string>([[OWN_DOMAIN, '']]);
  let standard = OWN_DOMAIN;
  for (const { domain, number, is_default } of await listDomains(db, workspaceId, MANY)) {
    hosts.set(domain, number);
    names.set(number, domain);
    if (is_default) standard = number;
  }
  const others = defaults.domain === undefined ? undefined : hosts.get(hostOf(defaults.domain) ?? '');
  if (defaults.domain !== undefined && others === undefined) {
    throw badRequest('domain', 'must be a domain of the workspace; see GET /api/v1/domains');
  }
  const found = new Map<string, ImportedLink | string>();

  const linkOf = (row: Omit<NamedLink, 'name' | 'domain_number'>): ImportedLink => ({
    id: row.id,
    slug: row.slug,
    domain: names.get(row.link_domain_number) ?? '',
    channel: row.channel,
  });

  /** Returns the domain of a name; null: any domain; undefined: no domain of the workspace. */
  const domainOf = (host: string | null): number | null | undefined =>
    host === null ? (others ?? null) : (hosts.get(host) ?? others);

  function choose(name: Extract<LinkName, { kind: 'name' }>, candidates: readonly NamedLink[]) {
    const domain = domainOf(name.host);
    if (domain === undefined) {
      return `the workspace does not have the domain ${name.host}: add it, or name the domain of its links with \`domain\``;
    }
    if (domain !== null) return candidates.find((one) => one.domain_number === domain);
    const onStandard = candidates.find((one) => one.domain_number === standard);
    const different = new Set(candidates.map(({ id }) => id));
    if (onStandard !== undefined || different.size <= 1) return onStandard ?? candidates[0];
    return 'names links on several domains: give the full short URL';
  }

  async function prepare(given: Iterable<LinkName>): Promise<void> {
    const fresh = new Map<string, LinkName>();
    for (const name of given) {
      const key = keyOf(name);
      if (!found.has(key)) fresh.set(key, name);
    }
    if (fresh.size === 0) return;
    const ids = [...fresh.values()].flatMap((name) => (name.kind === 'id' ? [name.id] : []));
    const slugs = [...fresh.values()].flatMap((name) => (name.kind === 'name' ? [name.slug] : []));
    const byId = new Map((await linksOfIds(db, workspaceId, ids)).map((row) => [row.id, linkOf(row)]));
    const byName = Map.groupBy(
      await linksOfNames(db, workspaceId, { slugs, domains: [...hosts.values()] }),
      ({ name }) => name,
    );
    for (const [key, name] of fresh) {
      const link =
        name.kind === 'id' ? byId.get(name.id) : choose(name, byName.get(slugKey(name.slug)) ?? []);
      if (link === undefined) found.set(key, 'names a link that the workspace does not have');
      else found.set(key, typeof link === 'string' || 'domain' in link ? link : linkOf(link));
    }
  }

  const finder: LinkFinder = {
    prepare,
    find(name) {
      const link = found.get(keyOf(name));
      if (link === undefined) throw new Error(`the link ${keyOf(name)} was not prepared`);
      return link;
    },
  };
  const { link } = defaults;
  const name = link === undefined ? null : defaultName(link);
  if (name !== null) {
    await prepare([name]);
    if (typeof finder.find(name) === 'string') throw badRequest('link', 'must be a link of the workspace');
  }
  return { finder, link: name };
}

function defaultName(text: string): LinkName {
  if (isUuid(text)) return { kind: 'id', id: text.toLowerCase() };
  const host = hostOfUrl(text);
  const name =
    host === null ? linkBySlug(text, '') : linkBySlug(`https://${text.replace(/^.*:\/\//, '')}`, '');
  if (name === null) throw badRequest('link', 'must be the id, slug or short URL of a link');
  return name;
}

const hostOf = (domain: string) => hostOfUrl(domain.includes('/') ? domain : `//${domain}`);

const keyOf = (name: LinkName): string =>
  name.kind === 'id' ? `id ${name.id}` : `${name.host ?? ''}/${slugKey(name.slug)}`;

/** Returns a name as an error shows it. */
export function shownName(name: LinkName | null): string | null {
  if (name === null) return null;
  if (name.kind === 'id') return name.id;
  return name.host === null ? name.slug : `${name.host}/${name.slug}`;
}
