import { type Static, Type } from 'typebox';
import { Body, ExternalId, Name, Nullable, PATH_ID, SecretShown, Uuid, VisibleText } from '../schemas.ts';

const PartnerWorkspace = Type.Object(
  { id: Uuid, name: Type.String(), slug: Type.String(), partner_external_id: Type.String() },
  { title: 'PartnerWorkspace' },
);

export const ProvisionBody = Body(
  {
    external_id: Type.String({
      ...VisibleText(200, 'Your id of the customer, matched exactly. Each id has one workspace.'),
      pattern: PATH_ID,
      title: 'PartnerExternalId',
    }),
    name: Type.String({
      ...Name,
      description: 'Used only when the workspace is created.',
    }),
    rotate_key: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'For an existing workspace: creates a key and revokes every key that you created for it earlier.',
      }),
    ),
  },
  { title: 'ProvisionWorkspace' },
);
export type ProvisionBody = Static<typeof ProvisionBody>;

export const Provisioned = Type.Object(
  {
    workspace: PartnerWorkspace,
    key: Nullable(
      Type.String({
        pattern: '^lk_live_[0-9a-f]{8}_[0-9a-f]{48}$',
        description:
          'A secret workspace key. Shown only in this response; null in a replay by `Idempotency-Key`.',
      }),
    ),
    secret_shown: SecretShown,
  },
  { title: 'ProvisionedWorkspace' },
);
export type Provisioned = Static<typeof Provisioned>;

export const PartnerWorkspaceAnswer = Type.Object(
  { workspace: PartnerWorkspace },
  { title: 'PartnerWorkspaceResponse' },
);

export const ExternalIdParams = Type.Object({ external_id: ExternalId });
