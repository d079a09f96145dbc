import { badRequest } from '../../core/errors.ts';
import { isOnHost } from '../../core/links/destinations.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { DEPLOYMENT_DOMAIN, type LinkDomain, linkDomains } from '../../sql/domains/domains.ts';
import type { LinkSettings } from '../../sql/links/link-settings.ts';
import { OWN_DOMAIN } from '../../sql/links/slugs.ts';
import { type DecidedUrl, decidedUrls } from './decided-urls.ts';

/**
 * The domain of a new link: a host of the workspace; null: the deployment's own domain; undefined: not sent. An import
 * passes the row itself, even of a domain that is not proven yet.
 */
export type WantedDomain = string | null | undefined | LinkDomain;

/** The domains on which a workspace can create links, at one moment. */
export type DomainChoice = {
  /**
   * Returns the wanted domain.
   *
   * @param otherwise when none was sent, unless the workspace has lost it; left out: the workspace's default
   * @throws {AppError} `bad_request` when it is not a proven domain of the workspace
   */
  choose(wanted: WantedDomain, otherwise?: LinkDomain): LinkDomain;
  /**
   * Requires that no address leads back to a domain of the workspace, which would redirect a visitor forever.
   *
   * @throws {AppError} `bad_request` that names the field
   */
  refuseOwn(urls: Iterable<DecidedUrl>): void;
  /** Returns the number of the wanted domain, or of the deployment's own if {@link choose} throws. */
  numberOf(wanted: WantedDomain): number;
};

/**
 * Requires that no web address is on one of the hosts.
 *
 * @param hosts domains of short links
 * @throws {AppError} `bad_request` that names the field
 */
export function refuseHosts(hosts: readonly string[], urls: Iterable<DecidedUrl>): void {
  for (const [field, url] of urls) {
    if (!isOnHost(url, hosts)) continue;
    throw badRequest(field, `must not lead back to ${new URL(url).hostname}, a domain of short links`);
  }
}

/** Returns every address of a link to which visitors are redirected. Undefined: not sent. */
export function redirectUrls(destination: URL | null, settings: Partial<LinkSettings>): DecidedUrl[] {
  const { expired_redirect_url: expired } = settings;
  return [
    ...(destination ? [['destination_url', destination.href] as const] : []),
    ...decidedUrls(settings),
    ...(expired ? [['expired_redirect_url', expired] as const] : []),
  ];
}

export async function domainChoice(db: Queryable, workspaceId: string): Promise<DomainChoice> {
  const domains = await linkDomains(db, workspaceId);
  const standard = domains.find(({ is_default }) => is_default) ?? DEPLOYMENT_DOMAIN;
  const isOpen = ({ number }: LinkDomain) =>
    number === OWN_DOMAIN || domains.some((domain) => domain.number === number);
  const find = (host: string) => domains.find(({ domain }) => domain === host.toLowerCase());
  return {
    choose(wanted, otherwise = standard) {
      if (wanted === undefined) return isOpen(otherwise) ? otherwise : standard;
      if (wanted === null) return DEPLOYMENT_DOMAIN;
      if (typeof wanted === 'object') return wanted;
      const found = find(wanted);
      if (!found)
        throw badRequest('domain', 'must be a verified domain of the workspace; see GET /api/v1/domains');
      return found;
    },
    refuseOwn(urls) {
      if (domains.length > 0)
        refuseHosts(
          domains.flatMap(({ domain }) => domain ?? []),
          urls,
        );
    },
    numberOf(wanted) {
      if (wanted === undefined) return standard.number;
      if (typeof wanted === 'object' && wanted !== null) return wanted.number;
      return wanted === null ? OWN_DOMAIN : (find(wanted)?.number ?? OWN_DOMAIN);
    },
  };
}
