import { type Static, Type } from 'typebox';
import { Click } from '../clicks/schemas.ts';
import { Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

export const VisitorsQuery = Type.Object({
  email: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 254,
      description: 'Visitors who gave this email, in any case of letters.',
    }),
  ),
  limit: Limit(100, 50),
});
export type VisitorsQuery = Static<typeof VisitorsQuery>;

const LastClick = Type.Object({ ...Click.properties, slug: Type.String() });

export const Visitors = Type.Object({
  visitors: Type.Array(
    Type.Object({
      id: Uuid,
      email: Nullable(
        Type.String({ description: 'The one that was asked for; else the newest that is known.' }),
      ),
      last_seen: Type.String({
        format: 'date-time',
        description:
          'Of the newest click or, with `email`, when it was given last, if that was later. The `last_seen` of a journey counts orders too.',
      }),
      last_click: Nullable(LastClick),
    }),
  ),
});

export const JourneyQuery = Type.Object({
  include: Type.Optional(
    OneOf(['details'], { description: 'What is known of each click besides: its link, place and device.' }),
  ),
});

/** What a click entry has with `include=details`. */
const DETAILS = {
  link_id: Type.Optional(Uuid),
  country: Type.Optional(Type.String({ description: 'ISO 3166 code of two letters; empty: unknown.' })),
  city: Type.Optional(Type.String({ description: 'Empty: unknown.' })),
  device: Type.Optional(Type.String()),
  browser: Type.Optional(Type.String()),
  os: Type.Optional(Type.String()),
  referer: Type.Optional(Type.String({ description: 'As sent; empty: unknown.' })),
};

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
        ...DETAILS,
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
