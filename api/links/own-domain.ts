import { isOnDomain, registrableDomain } from '../../core/destinations.ts';
import { badRequest } from '../../core/errors.ts';
import type { Queryable } from '../../sql/pool.ts';
import { updateWorkspace, type Workspace } from '../../sql/workspaces.ts';

/**
 * Holds an own-site destination against the workspace's one domain; the first one sets it.
 *
 * @param workspace as locked by this transaction
 * @returns the domain
 * @throws {AppError} `bad_request` for another domain
 */
export async function keepToOwnDomain(
  tx: Queryable,
  workspace: Workspace,
  destination: URL,
): Promise<string> {
  if (workspace.primary_domain === null) {
    const domain = registrableDomain(destination);
    await updateWorkspace(tx, workspace.id, { primary_domain: domain });
    return domain;
  }
  if (isOnDomain(destination, workspace.primary_domain)) return workspace.primary_domain;
  throw badRequest(
    'destination_url',
    `must be on ${workspace.primary_domain}; send external: true for a platform that is not yours`,
  );
}
