import { badRequest } from '../../core/errors.ts';
import { isOnDomain, registrableDomain } from '../../core/links/destinations.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { updateWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';

/**
 * Requires that own-site destinations are on the workspace's domain. The first destination sets it.
 *
 * @param workspace as locked by this transaction
 * @returns the domain; null when none is set and there is no destination
 * @throws {AppError} `bad_request` for another domain
 */
export async function keepToOwnDomain(
  tx: Queryable,
  workspace: Workspace,
  destinations: URL[],
): Promise<string | null> {
  const [first] = destinations;
  const domain = workspace.primary_domain ?? (first ? registrableDomain(first) : null);
  if (domain === null) return null;
  if (!destinations.every((destination) => isOnDomain(destination, domain))) {
    throw badRequest('destination_url', `must be on ${domain}`, {
      code: 'external_destination',
      hint: 'send external: true for a site that is not yours',
    });
  }
  if (workspace.primary_domain === null) await updateWorkspace(tx, workspace.id, { primary_domain: domain });
  return domain;
}
