import { Type } from 'typebox';
import { Instant, Nullable, Uuid } from '../schemas.ts';

export const Journey = Type.Object({
  visitor: Type.Object({
    id: Uuid,
    email: Nullable(Type.String({ description: 'The newest that is known.' })),
    first_seen: Instant,
    last_seen: Instant,
  }),
  journey: Type.Array(
    Type.Union([
      Type.Object({
        type: Type.Literal('click'),
        ts: Instant,
        channel: Type.String(),
        slug: Type.String(),
      }),
      Type.Object({
        type: Type.Literal('identify'),
        ts: Instant,
        email: Nullable(Type.String({ description: 'Null: only an `external_user_id` was given.' })),
      }),
      Type.Object({
        type: Type.Literal('order'),
        ts: Instant,
        amount: Type.Number({ description: 'Major units of `currency`.' }),
        currency: Type.String({ description: 'ISO 4217 code in lower case.' }),
      }),
    ]),
    { description: 'Oldest first; the newest 10,000.' },
  ),
});
