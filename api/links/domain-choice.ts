import { badRequest } from '../../core/errors.ts';
import { withoutTrailingDot } from '../../core/links/web-urls.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { DEPLOYMENT_DOMAIN, type LinkDomain, linkDomains } from '../../sql/domains/domains.ts';
import { OWN_DOMAIN } from '../../sql/links/slugs.ts';

/** Where a link is to be: a host of the workspace; null: the deployment's own domain; undefined: not sent. */
export type WantedDomain = string | null | undefined;

/** The domains on which a workspace can make links, at one moment. */
export type DomainChoice = {
  /**
   * Returns the wanted domain.
   *
   * @param otherwise when none was sent; left out: the workspace's default
   * @throws {AppError} `bad_request` when it is no proven domain of the workspace
   */
  choose(wanted: WantedDomain, otherwise?: LinkDomain): LinkDomain;
  /**
   * Requires that a destination does not lead back to a domain of the workspace.
   *
   * @throws {AppError} `bad_request`
   */
  refuseOwn(destination: URL): void;
  /** Returns the number of the wanted domain, of the deployment's own where {@link choose} throws. */
  numberOf(wanted: WantedDomain): number;
};

export async function domainChoice(db: Queryable, workspaceId: string): Promise<DomainChoice> {
  const domains = await linkDomains(db, workspaceId);
  const standard = domains.find(({ is_default }) => is_default) ?? DEPLOYMENT_DOMAIN;
  const find = (host: string) => domains.find(({ domain }) => domain === host.toLowerCase());
  return {
    choose(wanted, otherwise = standard) {
      if (wanted === undefined) return otherwise;
      if (wanted === null) return DEPLOYMENT_DOMAIN;
      const found = find(wanted);
      if (!found)
        throw badRequest('domain', 'must be a verified domain of the workspace; see GET /api/v1/domains');
      return found;
    },
    refuseOwn({ hostname }) {
      if (domains.some(({ domain }) => domain === withoutTrailingDot(hostname))) {
        throw badRequest('destination_url', `must not lead back to ${hostname}, a domain of short links`);
      }
    },
    numberOf(wanted) {
      if (wanted === undefined) return standard.number;
      return wanted === null ? OWN_DOMAIN : (find(wanted)?.number ?? OWN_DOMAIN);
    },
  };
}
