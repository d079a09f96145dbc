import { AppError, badRequest } from '../../core/errors.ts';
import { readAll, readEach } from '../../core/faults.ts';
import type { BlockedDomains } from '../../core/links/blocked-domains.ts';
import { DESTINATION_LIMIT, isOnOrigin, refuseBlockedDomain } from '../../core/links/destinations.ts';
import { PROOF_LABEL, requireDomain } from '../../core/links/domains.ts';
import { requireWebUrl, withoutTrailingDot } from '../../core/links/web-urls.ts';
import type { Config } from '../../core/settings/config.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import {
  clearDefaultDomain,
  countDomains,
  DEPLOYMENT_DOMAIN,
  type Domain,
  defaultDomain,
  domainsNamed,
  insertDomain,
  linkHosts,
  lockDomain,
  updateDomain,
} from '../../sql/domains/domains.ts';
import { countLinksOn, deleteDomain, deleteLinksOn, moveLinks } from '../../sql/domains/remove-domain.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { DecidedUrl } from '../links/decided-urls.ts';
import { refuseHosts } from '../links/domain-choice.ts';
import { APP_FILE_LIMIT, type DomainBody, type DomainChange, type DomainRecord } from './schemas.ts';

export const MOST_DOMAINS = 100;
/** Slugs that an error names. */
const NAMED_SLUGS = 20;

export type DomainRules = {
  config: Pick<Config, 'shortUrl' | 'publicUrl' | 'baseUrl' | 'appUrl'>;
  blockedDomains?: Pick<BlockedDomains, 'blocks'> | undefined;
};

export const noSuchDomain = () => new AppError('not_found', 'the workspace has no such domain');

/** Returns a domain as the API shows it. */
export function toRecord(domain: Domain): DomainRecord {
  const { number: _, workspace_id: __, proof, missing_since: ___, ...shown } = domain;
  return {
    ...shown,
    verification: { type: 'TXT', name: `${PROOF_LABEL}.${domain.domain}`, value: proof },
  };
}

/**
 * Adds a domain that is yet to be proven.
 *
 * @throws {AppError} `bad_request` for a name or URL that can't be used; `conflict` when the workspace has the domain
 *   or {@link MOST_DOMAINS} of them, or another workspace has verified it
 */
export async function createDomain(
  tx: PoolClient,
  workspaceId: string,
  body: DomainBody,
  rules: DomainRules,
): Promise<Domain> {
  const domain = readDomain(body, rules);
  await lockWorkspace(tx, workspaceId);
  refuseHosts(await linkHosts(tx, workspaceId), addressesOf(body));
  const named = await domainsNamed(tx, domain);
  if (named.some(({ workspace_id }) => workspace_id === workspaceId)) {
    throw new AppError('conflict', `the workspace has ${domain} already`);
  }
  if (named[0]?.status === 'verified') {
    throw new AppError('conflict', `another workspace has verified ${domain}`);
  }
  if ((await countDomains(tx, workspaceId)) >= MOST_DOMAINS) {
    throw new AppError('conflict', `a workspace has at most ${MOST_DOMAINS} domains`);
  }
  return insertDomain(tx, workspaceId, {
    domain,
    root_url: body.root_url ?? null,
    not_found_url: body.not_found_url ?? null,
    expired_url: body.expired_url ?? null,
    apple_app_site_association: body.apple_app_site_association ?? null,
    assetlinks: body.assetlinks ?? null,
  });
}

/** Checks a create body, of which a faulty `domain` is left out. @throws {AppError} `bad_request` */
export function checkDomain({ domain, ...settings }: Partial<DomainBody>, rules: DomainRules): void {
  if (domain === undefined) checkSettings(settings, null, rules);
  else readDomain({ domain, ...settings }, rules);
}

/** Validates a create body. @returns the host name as stored */
function readDomain(body: DomainBody, rules: DomainRules): string {
  const { shortUrl, publicUrl, baseUrl, appUrl } = rules.config;
  const { domain } = readAll({
    domain: () => requireDomain(body.domain, [shortUrl, publicUrl, baseUrl, appUrl]),
    settings: () => checkSettings(body, body.domain, rules),
  });
  // The check needs the one spelling of the domain, to find addresses that lead back to it.
  checkSettings(body, domain, rules);
  return domain;
}

/** @throws {AppError} `not_found`; `bad_request`; `conflict` for a default that is not verified */
export async function changeDomain(
  tx: PoolClient,
  workspaceId: string,
  id: string,
  change: DomainChange,
  rules: DomainRules,
): Promise<Domain> {
  await lockWorkspace(tx, workspaceId);
  const domain = await lockDomain(tx, workspaceId, id);
  if (!domain) throw noSuchDomain();
  checkSettings(change, domain.domain, rules);
  refuseHosts(await linkHosts(tx, workspaceId), addressesOf(change));
  if (change.is_default === true && domain.status === 'pending') {
    throw new AppError('conflict', `${domain.domain} is not verified; set its DNS record first`);
  }
  if (change.is_default === true && !domain.is_default) await clearDefaultDomain(tx, workspaceId);
  const changed = await updateDomain(tx, id, change);
  if (!changed) throw noSuchDomain();
  return changed;
}

/**
 * Deletes a domain, and moves or deletes its links as `links` says.
 *
 * @throws {AppError} `not_found`; `conflict` while links are on it, or when a slug is taken on the domain that they
 * move to
 */
export async function removeDomain(
  tx: PoolClient,
  workspaceId: string,
  id: string,
  links: 'move' | 'delete' | undefined,
): Promise<void> {
  await lockWorkspace(tx, workspaceId);
  const domain = await lockDomain(tx, workspaceId, id);
  if (!domain) throw noSuchDomain();
  const count = await countLinksOn(tx, domain);
  if (count > 0 && links === undefined) {
    const are = count === 1 ? 'link is' : 'links are';
    throw new AppError('conflict', `${count} ${are} on ${domain.domain}; send links=move or links=delete`, [
      { path: 'links', message: 'must be "move" or "delete" while links are on the domain' },
    ]);
  }
  if (links === 'move' && count > 0) {
    const standard = await defaultDomain(tx, workspaceId);
    const taken = await moveLinks(
      tx,
      domain,
      standard.number === domain.number ? DEPLOYMENT_DOMAIN : standard,
    );
    if (taken.length > 0) {
      const shown = taken.slice(0, NAMED_SLUGS);
      const others = taken.length > shown.length ? ` and ${taken.length - shown.length} others` : '';
      throw new AppError(
        'conflict',
        `the slugs ${shown.map((slug) => `"${slug}"`).join(', ')}${others} are taken where the links would move to`,
        shown.map((slug) => ({ path: 'slug', message: `"${slug}" is taken` })),
      );
    }
  }
  if (links === 'delete') await deleteLinksOn(tx, domain);
  await deleteDomain(tx, domain);
}

/** Returns the destinations of a domain's visitors who open none of its links. */
function addressesOf(given: Pick<DomainChange, 'root_url' | 'not_found_url' | 'expired_url'>): DecidedUrl[] {
  return (['root_url', 'not_found_url', 'expired_url'] as const).flatMap((field) => {
    const url = given[field];
    return typeof url === 'string' ? [[field, url] as const] : [];
  });
}

/** Checks settings. @param domain null: not known @throws {AppError} `bad_request` that names every fault */
export function checkSettings(
  given: Omit<DomainChange, 'is_default'>,
  domain: string | null,
  rules: DomainRules,
): void {
  const checkAddress = ([field, url]: DecidedUrl): void => {
    requireWebUrl(field, url, DESTINATION_LIMIT);
    // A destination on the domain itself would redirect a visitor forever.
    if (withoutTrailingDot(new URL(url).hostname) === domain) {
      throw badRequest(field, 'must not lead back to the domain');
    }
    if (isOnOrigin(url, rules.config.shortUrl)) {
      throw badRequest(field, 'must not lead back to the short-link origin');
    }
    refuseBlockedDomain(field, url, rules.blockedDomains);
  };
  const checkFile = (field: 'apple_app_site_association' | 'assetlinks'): void => {
    if (Buffer.byteLength(JSON.stringify(given[field] ?? null)) > APP_FILE_LIMIT) {
      throw badRequest(field, `must be at most ${APP_FILE_LIMIT} bytes serialized`);
    }
  };
  readAll({
    addresses: () => readEach(addressesOf(given), checkAddress),
    files: () => readEach(['apple_app_site_association', 'assetlinks'] as const, checkFile),
  });
}
