import { type Static, Type } from 'typebox';
import { KEY_RESTRICTIONS } from '../../core/access/key-scopes.ts';
import {
  Body,
  Cursor,
  Instant,
  Limit,
  NAME_OR_EMPTY,
  NextCursor,
  Nullable,
  OneOf,
  SecretShown,
  Uuid,
} from '../schemas.ts';

const KEY_KINDS = ['secret', 'publishable'] as const;
const KeyKind = OneOf(KEY_KINDS, {
  title: 'KeyKind',
  description: 'A secret key belongs on a server. A publishable key is safe in a web page.',
});

const KEY_SCOPES = ['secret', 'publishable', ...KEY_RESTRICTIONS] as const;
const KEY_MAKERS = ['key', 'member', 'partner', 'operator'] as const;

const FIELDS = {
  id: Uuid,
  kind: KeyKind,
  label: Type.String(),
  prefix: Type.String({
    pattern: '^(lk|pk)_live_[0-9a-f]{8}$',
    description: 'The public part of the token, to tell keys apart.',
  }),
  scopes: Type.Array(OneOf(KEY_SCOPES), {
    description:
      '`secret` or `publishable` alone: everything that the kind may do. Otherwise what the secret key is restricted to.',
  }),
  manage: Type.Boolean({
    description: 'May manage keys, members, workspace settings and the identity secret.',
  }),
  created_by: Type.Object(
    { type: OneOf(KEY_MAKERS), id: Nullable(Uuid) },
    { title: 'KeyMaker', description: 'Who created the key. The `operator` of the service has no id.' },
  ),
  created_at: Instant,
  expires_at: Nullable({ ...Instant, description: 'The key is refused from this instant on. Null: never.' }),
  last_used_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'Accurate to the minute. Null if the key was never used.',
    }),
  ),
  revoked_at: Nullable(Instant),
};

export const KeyRecord = Type.Object(FIELDS, { title: 'Key' });
export type KeyRecord = Static<typeof KeyRecord>;

export const KeyWithToken = Type.Object(
  {
    ...FIELDS,
    token: Type.Optional(
      Type.String({
        pattern: '^(lk|pk)_live_[0-9a-f]{8}_[0-9a-f]{48}$',
        description:
          'The bearer token for the `Authorization` header. Shown only in this response; a replay by `Idempotency-Key` lacks it.',
      }),
    ),
    secret_shown: SecretShown,
  },
  { title: 'KeyWithToken' },
);
/** The response of a create; a replay has no token. */
export type KeyWithToken = KeyRecord & { token: string };

export const KeyList = Type.Object(
  { keys: Type.Array(KeyRecord), next_cursor: NextCursor },
  { title: 'KeyList' },
);

export const KeyQuery = Type.Object({ limit: Limit(500, 100), cursor: Type.Optional(Cursor) });

export const KeyBody = Body(
  {
    kind: KeyKind,
    label: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: NAME_OR_EMPTY,
        default: '',
        description: 'What the key is for, such as `checkout server`.',
      }),
    ),
    scopes: Type.Optional(
      Type.Array(OneOf(KEY_RESTRICTIONS), {
        minItems: 1,
        maxItems: KEY_RESTRICTIONS.length,
        description:
          'Restricts a secret key. `read`: everything that an analyst may read. `links`, `referrals`, `tracking`: all endpoints of that area. By default unrestricted, or the scopes of the key that creates it.',
      }),
    ),
    manage: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether a secret key may manage keys, members, workspace settings and the identity secret. Only a member can set it (403).',
      }),
    ),
    expires_at: Type.Optional(
      Nullable({
        ...Instant,
        description:
          'When a secret key expires. By default never, or with the key that creates it, which it cannot outlast (403).',
      }),
    ),
  },
  { title: 'CreateKey' },
);
export type KeyBody = Static<typeof KeyBody>;

export const RevokeQuery = Type.Object({
  descendants: Type.Boolean({
    default: false,
    description: 'Also end the keys and members that the key created, directly or through those.',
  }),
});

const Count = Type.Integer({ minimum: 0 });
export const Revoked = Type.Object(
  {
    ok: Type.Literal(true),
    descendants: Type.Object(
      { keys: Count, members: Count, ended: Type.Boolean() },
      {
        description:
          'Active keys and members that descend from the key. `ended`: they were revoked and removed by this call.',
      },
    ),
  },
  { title: 'RevokedKey' },
);
