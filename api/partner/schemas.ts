import { type Static, Type } from 'typebox';
import { Body, ExternalId, Nullable, Uuid } from '../schemas.ts';

export const PartnerWorkspace = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  partner_external_id: Type.String(),
});

export const ProvisionBody = Body({
  external_id: Type.String({
    ...ExternalId,
    description: 'Your id of the customer, matched exactly: one workspace for each.',
  }),
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Used only when the workspace is made.' }),
  rotate_key: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'For a workspace that exists: mints a key and revokes all that you minted for it before.',
    }),
  ),
});
export type ProvisionBody = Static<typeof ProvisionBody>;

export const Provisioned = Type.Object({
  workspace: PartnerWorkspace,
  key: Nullable(Type.String({ description: 'A secret workspace key, shown this once.' })),
});
export type Provisioned = Static<typeof Provisioned>;

export const PartnerWorkspaceAnswer = Type.Object({ workspace: PartnerWorkspace });

export const ExternalIdParams = Type.Object({ external_id: ExternalId });
