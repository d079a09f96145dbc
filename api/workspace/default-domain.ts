import { isPaid } from '../../core/access/plans.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { chooseDefaultDomain } from '../../sql/domains/domains.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';

/**
 * Sets the domain of new links that name none.
 *
 * @param host null: the deployment's own; undefined: no change
 * @throws {AppError} `bad_request` when it is not a verified domain of the workspace; `payment_required`
 */
export async function setDefaultDomain(
  tx: Queryable,
  workspaceId: string,
  host: string | null | undefined,
): Promise<void> {
  if (host === undefined) return;
  const workspace = await lockWorkspace(tx, workspaceId);
  if (!isPaid(workspace)) {
    throw new AppError('payment_required', 'a change of `default_domain` requires an active paid plan');
  }
  if (!(await chooseDefaultDomain(tx, workspaceId, host === null ? null : host.toLowerCase()))) {
    throw badRequest('default_domain', 'must be a verified domain of the workspace; see GET /api/v1/domains');
  }
}
