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
 * Creates the partner's workspace of an `external_id`, or returns the existing one. Safe to call concurrently.
 * Returns a key only for a new workspace or with `rotate_key`.
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
    maker: { type: 'partner', id: partner.id },
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
