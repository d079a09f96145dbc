import { isPaid } from '../../core/access/plans.ts';
import { AppError } from '../../core/errors.ts';
import type { PoolClient } from '../../sql/database/pool.ts';
import { domainsNamed, type LinkDomain } from '../../sql/domains/domains.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { createDomain, type DomainRules } from '../domains/service.ts';

/**
 * Returns the workspace's entry of a host, on which imported links wait for the proof; adds it where there is none.
 * Such links redirect once the domain is proven. Until then, visitors of the host reach another service, or get the
 * deployment's own links.
 *
 * @returns the error where the workspace can't have the domain
 */
export async function waitingDomain(
  tx: PoolClient,
  workspaceId: string,
  host: string,
  rules: DomainRules,
): Promise<LinkDomain | AppError> {
  const workspace = await lockWorkspace(tx, workspaceId);
  const named = await domainsNamed(tx, host);
  const own = named.find(({ workspace_id }) => workspace_id === workspaceId);
  if (own) return own;
  const refused = (message: string) => new AppError('conflict', message, [{ path: 'domain', message }]);
  if (!isPaid(workspace)) return refused('a domain of the workspace requires an active paid plan');
  try {
    return await createDomain(tx, workspaceId, { domain: host }, rules);
  } catch (error) {
    if (error instanceof AppError && error.status < 500)
      return refused(error.details?.[0]?.message ?? error.message);
    throw error;
  }
}
