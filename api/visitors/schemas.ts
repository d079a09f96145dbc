import { type Static, Type } from 'typebox';
import { Click, ORIGIN } from '../clicks/schemas.ts';
import { Instant, Limit, Nullable, OneOf, Uuid } from '../schemas.ts';

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
    Type.String({
      minLength: 1,
      maxLength: 254,
      description:
        'Only visitors whose email or `external_user_id` contains this text, or whose id ends with it (from four hexadecimal digits on, or the whole id), ignoring case. Not together with `email`.',
    }),
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

/** What a click entry has with `include=details`. */
const DETAILS = {
  link_id: Type.Optional(Uuid),
  country: Type.Optional(Type.String({ description: 'ISO 3166 two-letter code. Empty if unknown.' })),
  city: Type.Optional(Type.String({ description: 'Empty if unknown.' })),
  device: Type.Optional(Type.String()),
  browser: Type.Optional(Type.String()),
  os: Type.Optional(Type.String()),
  referer: Type.Optional(Type.String({ description: 'As sent by the browser. Empty if unknown.' })),
  domain: Type.Optional(ORIGIN.domain),
  trigger: Type.Optional(ORIGIN.trigger),
  utm_source: Type.Optional(ORIGIN.utm_source),
  utm_medium: Type.Optional(ORIGIN.utm_medium),
  utm_campaign: Type.Optional(ORIGIN.utm_campaign),
  utm_term: Type.Optional(ORIGIN.utm_term),
  utm_content: Type.Optional(ORIGIN.utm_content),
  ad_network: Type.Optional(ORIGIN.ad_network),
  ad_click_param: Type.Optional(ORIGIN.ad_click_param),
  ad_click_id: Type.Optional(ORIGIN.ad_click_id),
  referer_host: Type.Optional(ORIGIN.referer_host),
  continent: Type.Optional(Type.String({ description: 'Two-letter code. Empty if unknown.' })),
  region: Type.Optional(ORIGIN.region),
  language: Type.Optional(ORIGIN.language),
  rule_id: Type.Optional(ORIGIN.rule_id),
  variant_id: Type.Optional(ORIGIN.variant_id),
  asn: Type.Optional(ORIGIN.asn),
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
            // Without a format: the serializer tells the entries apart by validating them.
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
