import { Type } from 'typebox';
import { ROLES } from '../../core/access/roles.ts';
import { Body, Instant, Nullable, OneOf, Uuid } from '../schemas.ts';
import { Email } from '../session/schemas.ts';

const RoleOfMember = OneOf(ROLES, {
  description: '`analyst` reads, `operator` changes things too, `owner` also has keys and members.',
});

export const MemberView = Type.Object({
  id: Uuid,
  email: Nullable(Type.String({ description: 'Null: signs in with a passkey.' })),
  role: RoleOfMember,
  created_at: Instant,
  last_seen_at: Nullable(Instant),
});

export const MemberList = Type.Object({ members: Type.Array(MemberView) });

export const MemberChange = Body({ role: RoleOfMember });

export const InviteBody = Body({
  email: Type.Optional(
    Nullable(
      Type.String({
        ...Email,
        description:
          'Of a member: the link lets that member set another password or passkey. Left out: the invited person says it.',
      }),
    ),
  ),
  role: RoleOfMember,
});

export const InviteAnswer = Type.Object({
  invite: Type.Object({
    url: Type.String({ description: 'Works once. Shown here only.' }),
    expires_at: Instant,
    role: OneOf(ROLES),
    email: Nullable(Type.String()),
    workspace_id: Uuid,
  }),
});
