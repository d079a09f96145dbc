import { type Static, type TSchema, Type } from 'typebox';
import { DETAIL_NAMES } from '../../core/clicks/field-names.ts';
import { Click, clickFieldSchema } from '../clicks/schemas.ts';
import { Instant, Limit, Nullable, OneOf, Uuid, VisibleText } from '../schemas.ts';

export const VisitorsQuery = Type.Object({
  email: Type.Optional(
    Type.String({
      format: 'email',
      minLength: 1,
      maxLength: 254,
      description: 'Only visitors who identified with this email, ignoring case.',
    }),
  ),
  search: Type.Optional(
    VisibleText(
      254,
      'Only visitors whose email or `external_user_id` contains this text, or whose id ends with it (from four hexadecimal digits on, or the whole id), ignoring case. Not together with `email`.',
    ),
  ),
  limit: Limit(100, 50),
});
export type VisitorsQuery = Static<typeof VisitorsQuery>;

const LastClick = Type.Object({ ...Click.properties, slug: Type.String() }, { title: 'LastClick' });

const Visitor = Type.Object(
  {
    id: Uuid,
    email: Nullable(
      Type.String({ format: 'email', description: 'The requested email, else the newest known one.' }),
    ),
    last_seen: Type.String({
      format: 'date-time',
      description:
        'Time of the newest click. With `email`, the time of the last identify if that is later. The `last_seen` of a journey also counts orders.',
    }),
    last_click: Nullable(LastClick),
  },
  { title: 'Visitor' },
);

export const Visitors = Type.Object({ visitors: Type.Array(Visitor) }, { title: 'VisitorList' });

export const JourneyQuery = Type.Object({
  include: Type.Optional(OneOf(['details'], { description: 'Adds link, place and device of each click.' })),
});

/** Without a pattern, because the serializer distinguishes the entries by validating them. */
function detailSchema(name: (typeof DETAIL_NAMES)[number]) {
  const { pattern: _, ...schema } = clickFieldSchema(name) as TSchema & { pattern?: string };
  return Type.Optional(schema);
}

/** Fields of a click entry with `include=details`. */
const DETAILS = {
  link_id: Type.Optional(Uuid),
  ...Object.fromEntries(DETAIL_NAMES.map((name) => [name, detailSchema(name)])),
};

export const Journey = Type.Object(
  {
    visitor: Type.Object({
      id: Uuid,
      email: Nullable(Type.String({ format: 'email', description: 'The newest known email.' })),
      first_seen: Instant,
      last_seen: Instant,
    }),
    journey: Type.Array(
      Type.Union([
        Type.Object(
          {
            type: Type.Literal('click'),
            ts: Instant,
            channel: Type.String(),
            slug: Type.String(),
            ...DETAILS,
          },
          { title: 'JourneyClick' },
        ),
        Type.Object(
          {
            type: Type.Literal('identify'),
            ts: Instant,
            // Without a format, because the serializer distinguishes the entries by validating them.
            email: Nullable(Type.String({ description: 'Null if only an `external_user_id` was given.' })),
          },
          { title: 'JourneyIdentify' },
        ),
        Type.Object(
          {
            type: Type.Literal('order'),
            ts: Instant,
            amount: Type.Number({ description: 'Major units of `currency`.' }),
            // Without a pattern, for the same reason.
            currency: Type.String({ description: 'ISO 4217 code in lower case.' }),
          },
          { title: 'JourneyOrder' },
        ),
      ]),
      { description: 'Oldest first, at most the newest 10,000.' },
    ),
  },
  { title: 'Journey' },
);
