import { type Static, Type } from 'typebox';
import { Body, Email, Instant, Nullable, SecretShown, Uuid } from '../schemas.ts';
import { MemberEmail, Role } from '../session/schemas.ts';

export const MemberView = Type.Object(
  {
    id: Uuid,
    email: Nullable({ ...Email, description: 'Null for a member who signs in with a passkey only.' }),
    role: Role,
    provider_linked: Type.Boolean({
      description:
        'Whether the member is tied to a person at the identity provider (its `sub`), who alone signs in there as this member.',
    }),
    created_at: Instant,
    last_seen_at: Nullable(Instant),
  },
  { title: 'Member' },
);

export const MemberList = Type.Object({ members: Type.Array(MemberView) }, { title: 'MemberList' });

export const MemberChange = Body({ role: Role }, { title: 'UpdateMember' });

export const InviteBody = Body(
  {
    email: Type.Optional(
      Nullable({
        ...MemberEmail,
        description:
          'Email of the invited person. With your own email, the link sets another password or passkey; the email of another member is a 409. If omitted, the invited person enters one.',
      }),
    ),
    role: Role,
    mail: Type.Optional(
      Type.Boolean({
        description:
          'Whether the service mails the link to `email`; by default it does if it has a mail server and there is an `email`. If not, the response has the link.',
      }),
    ),
  },
  { title: 'InviteMember' },
);
export type InviteBody = Static<typeof InviteBody>;

export const InviteAnswer = Type.Object(
  {
    invite: Type.Object({
      url: Type.Optional(
        Type.String({
          format: 'uri',
          description:
            'Works once. Shown only in this response; a replay by `Idempotency-Key` lacks it, and so does an invitation that is mailed.',
        }),
      ),
      mailed: Type.Boolean({
        description: 'Whether the link is mailed to `email`; GET /mails says how far.',
      }),
      expires_at: Instant,
      role: Role,
      email: Nullable(Email),
      workspace_id: Uuid,
    }),
    secret_shown: SecretShown,
  },
  { title: 'Invitation' },
);
