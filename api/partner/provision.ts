import type { PoolClient } from '../../sql/database/pool.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import {
  lockPartnerWorkspace,
  type PartnerWorkspace,
  partnerWorkspace,
  revokePartnerKeys,
} from '../../sql/workspaces/partner-workspaces.ts';
import type { Partner } from '../../sql/workspaces/partners.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { ProvisionBody, Provisioned } from './schemas.ts';

/**
 * Makes the partner's workspace for an `external_id`, or finds the one that is there: of any number of calls at once
 * one makes it. A key comes back when the workspace is made or `rotate_key` asks for one, and only then.
 */
export async function provision(
  tx: PoolClient,
  partner: Partner,
  { external_id, name, rotate_key }: ProvisionBody,
): Promise<{ made: boolean; body: Provisioned }> {
  await lockPartnerWorkspace(tx, partner.id, external_id);
  const known = await partnerWorkspace(tx, partner.id, external_id);
  if (known && !rotate_key) return { made: false, body: { workspace: known, key: null } };
  if (known) await revokePartnerKeys(tx, partner.id, known.id);
  const workspace = known ?? (await make(tx, partner, external_id, name));
  const { token } = await createKey(tx, {
    workspaceId: workspace.id,
    kind: 'secret',
    label: `partner:${partner.name}`,
    partnerId: partner.id,
  });
  return { made: !known, body: { workspace, key: token } };
}

async function make(
  tx: PoolClient,
  partner: Partner,
  externalId: string,
  name: string,
): Promise<PartnerWorkspace> {
  const { id, slug } = await createWorkspace(tx, {
    name,
    plan: 'unlimited',
    partnerId: partner.id,
    partnerExternalId: externalId,
  });
  return { id, name, slug, partner_external_id: externalId };
}
