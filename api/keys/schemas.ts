import { type Static, Type } from 'typebox';
import { Body, Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

const KEY_KINDS = ['secret', 'publishable'] as const;

const FIELDS = {
  id: Uuid,
  kind: OneOf(KEY_KINDS),
  label: Type.String(),
  prefix: Type.String({
    description: 'What its token begins with, to tell keys apart: `lk_live_` or `pk_live_` and 8 hex.',
  }),
  created_at: Instant,
  last_used_at: Nullable(
    Type.String({ format: 'date-time', description: 'To the minute. Null: it was never used.' }),
  ),
  revoked_at: Nullable(Instant),
};

export const KeyRecord = Type.Object(FIELDS);
export type KeyRecord = Static<typeof KeyRecord>;

export const KeyWithToken = Type.Object({
  ...FIELDS,
  token: Type.String({ description: 'What goes into the Authorization header. Shown here only.' }),
});
export type KeyWithToken = Static<typeof KeyWithToken>;

export const KeyList = Type.Object({ keys: Type.Array(KeyRecord), next_cursor: Nullable(Instant) });

export const KeyQuery = Type.Object({
  limit: Limit(500, 100),
  cursor: Type.Optional(Type.String({ format: 'date-time' })),
});

export const KeyBody = Body({
  kind: OneOf(KEY_KINDS, {
    description: 'A secret key belongs on a server. A publishable one may stand in a page.',
  }),
  label: Type.Optional(
    Type.String({ maxLength: 100, default: '', description: 'What it is for, such as `checkout server`.' }),
  ),
});
export type KeyBody = Static<typeof KeyBody>;
