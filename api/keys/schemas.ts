import { type Static, Type } from 'typebox';
import { Body, Cursor, Instant, Limit, NextCursor, Nullable, OneOf, Uuid } from '../schemas.ts';

const KEY_KINDS = ['secret', 'publishable'] as const;
const KeyKind = OneOf(KEY_KINDS, {
  title: 'KeyKind',
  description: 'A secret key belongs on a server. A publishable key is safe in a web page.',
});

const FIELDS = {
  id: Uuid,
  kind: KeyKind,
  label: Type.String(),
  prefix: Type.String({
    pattern: '^(lk|pk)_live_[0-9a-f]{8}$',
    description: 'The public part of the token, to tell keys apart.',
  }),
  created_at: Instant,
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
    token: Type.String({
      pattern: '^(lk|pk)_live_[0-9a-f]{8}_[0-9a-f]{48}$',
      description: 'The bearer token for the `Authorization` header. Shown only in this response.',
    }),
  },
  { title: 'KeyWithToken' },
);
export type KeyWithToken = Static<typeof KeyWithToken>;

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
        default: '',
        description: 'What the key is for, such as `checkout server`.',
      }),
    ),
  },
  { title: 'CreateKey' },
);
export type KeyBody = Static<typeof KeyBody>;
