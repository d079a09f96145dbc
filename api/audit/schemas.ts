import { type Static, Type } from 'typebox';
import { Cursor, Instant, Limit, NextCursor, Nullable, OneOf, Uuid, VisibleText } from '../schemas.ts';

/** Types of actors. */
export const ACTORS = ['member', 'key', 'partner', 'operator', 'provider', 'service'] as const;

export const AuditEntry = Type.Object(
  {
    id: Uuid,
    at: Instant,
    actor: Type.Object(
      {
        type: OneOf(ACTORS),
        id: Nullable({ ...Uuid, description: 'Of a billing provider: its connection.' }),
        name: Nullable(
          Type.String({
            description:
              'Label of the key, name of the partner or billing provider, or masked email of the member.',
          }),
        ),
      },
      { title: 'AuditActor' },
    ),
    action: Type.String({ description: 'Such as `key.create`.' }),
    target: Type.Object({ type: Type.String(), id: Nullable(Uuid) }, { title: 'AuditTarget' }),
    ip_hash: Nullable(
      Type.String({ description: "Keyed hash of the caller's network address, to compare entries." }),
    ),
    details: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      title: 'AuditDetails',
      additionalProperties: true,
      description: 'What was asked for, such as the role of an invitation.',
    }),
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditLog = Type.Object(
  { entries: Type.Array(AuditEntry), next_cursor: NextCursor },
  { title: 'AuditLog' },
);

export type AuditFilter = Pick<Static<typeof AuditQuery>, 'since' | 'action' | 'actor'>;

export const AuditQuery = Type.Object({
  limit: Limit(500, 100),
  cursor: Type.Optional(Cursor),
  since: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only entries not older than this.' }),
  ),
  action: Type.Optional(VisibleText(100, 'Only entries of this action, such as `session.sign_in_failed`.')),
  actor: Type.Optional(
    VisibleText(100, `Only entries of this actor: its id, or its type, one of ${ACTORS.join(', ')}.`),
  ),
  format: OneOf(['json', 'ndjson'], {
    default: 'json',
    description: '`ndjson`: every entry that is older than `cursor`, one a line; `limit` has no effect.',
  }),
});
