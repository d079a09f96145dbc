import { domainPartsOf, type OtherRecord } from './records.ts';
import type { LinkTable } from './table.ts';

/** A proven domain of a workspace. */
export type Host = {
  /** The number that its names in the link table begin with. */
  number: number;
  /** Domain in lower case. */
  domain: string;
  workspaceId: Uint8Array;
  /** Where `/`, unknown slugs and expired links lead to; null: the deployment's pages. */
  rootUrl: string | null;
  notFoundUrl: string | null;
  expiredUrl: string | null;
  /** JSON text of the files below `/.well-known/`. */
  appleAppSiteAssociation: string | null;
  assetlinks: string | null;
};

/** The proven domains of all workspaces. */
export type Hosts = {
  /** Whether there is none: then no request's `Host` need be read. */
  isEmpty(): boolean;
  /**
   * Returns the domain that a request came to; null: the deployment's own, or an unknown one.
   *
   * @param header value of `Host`
   */
  find(header: string): Host | null;
  /** Returns the host of a domain's number; empty for the deployment's own. */
  nameOf(number: number): string;
};

/** Follows the domains in the table. Create it before the table is filled. */
export function createHosts(table: LinkTable): Hosts {
  const byDomain = new Map<string, Host>();
  const byNumber = new Map<number, Host>();
  table.listen({
    slugChanged(name) {
      if (!name.startsWith('@')) return;
      const domain = name.slice(1);
      const former = byDomain.get(domain);
      if (former !== undefined) byNumber.delete(former.number);
      byDomain.delete(domain);
      const record = table.find(name);
      if (record?.kind !== 'domain') return;
      const host = hostFrom(record, domain);
      byDomain.set(domain, host);
      byNumber.set(host.number, host);
    },
  });
  return {
    isEmpty: () => byDomain.size === 0,
    find: (header) => byDomain.get(header) ?? byDomain.get(hostIn(header)) ?? null,
    nameOf: (number) => byNumber.get(number)?.domain ?? '',
  };
}

/** Returns the host of a `Host` header: in lower case, without port and final dot. */
function hostIn(header: string): string {
  const port = header.indexOf(':');
  const host = (port < 0 ? header : header.slice(0, port)).toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

function hostFrom(record: OtherRecord, domain: string): Host {
  const parts = domainPartsOf(record);
  return {
    number: parts.number,
    domain,
    workspaceId: record.workspaceId,
    rootUrl: parts.root_url,
    notFoundUrl: parts.not_found_url,
    expiredUrl: parts.expired_url,
    appleAppSiteAssociation: parts.apple_app_site_association,
    assetlinks: parts.assetlinks,
  };
}
