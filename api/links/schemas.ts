import { type Static, Type } from 'typebox';
import { CHANNELS, CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { DESTINATION_LIMIT } from '../../core/links/destinations.ts';
import { SLUG_LIMIT } from '../../core/links/slugs.ts';
import {
  Body,
  ExternalId,
  Instant,
  Nullable,
  NullableMetadata,
  OneOf,
  Uuid,
  WINDOW_PARAMETERS,
  Window,
} from '../schemas.ts';

const MAX_CLICKS = 2_147_483_647;
const NAME_LIMIT = 200;
const TAG_LIMIT = 50;
const TAGS_LIMIT = 50;
const PASSWORD_LIMIT = 200;

const Url = Type.String({ format: 'uri', maxLength: DESTINATION_LIMIT });
const Name = Type.String({ minLength: 1, maxLength: NAME_LIMIT, description: 'Name of the campaign.' });
const Slug = Type.String({
  minLength: 1,
  maxLength: SLUG_LIMIT,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Looked up with its case, unique without. Reserved words are refused.',
});
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: TAG_LIMIT }), { maxItems: TAGS_LIMIT });
const Channel = OneOf([...CREATABLE_CHANNELS, 'x'], { description: '`x` is `twitter`.' });

const PIXELS = ['facebook', 'google', 'tiktok', 'linkedin', 'x', 'pinterest'] as const;

/** The settings of a link that a create and a change take alike. Null clears. */
const SETTING_FIELDS = {
  utm_campaign: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 255 }))),
  targeting: Type.Optional(
    Nullable(
      Body(
        { mobile: Type.Optional(Url), desktop: Type.Optional(Url) },
        { description: 'Destinations by device; a tablet counts as mobile.' },
      ),
    ),
  ),
  expires_at: Type.Optional(Nullable(Type.String({ format: 'date-time' }))),
  max_clicks: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: MAX_CLICKS,
        description: 'Visits let through, exactly; returning visitors count each time.',
      }),
    ),
  ),
  expired_redirect_url: Type.Optional(
    Nullable(
      Type.String({
        format: 'uri',
        maxLength: DESTINATION_LIMIT,
        description: 'Where an expired or used-up link leads, instead of 410.',
      }),
    ),
  ),
  password: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: PASSWORD_LIMIT }))),
  retargeting: Type.Optional(
    Nullable(
      Body(
        {
          facebook: Type.Optional(Type.String()),
          google: Type.Optional(Type.String()),
          tiktok: Type.Optional(Type.String()),
          linkedin: Type.Optional(Type.String()),
          x: Type.Optional(Type.String()),
          pinterest: Type.Optional(Type.String()),
        },
        {
          description:
            'Pixel ids by platform: a page fires them and forwards. Visitors with Global Privacy Control (`Sec-GPC: 1`) are redirected without it.',
        },
      ),
    ),
  ),
};

const SettingFields = Type.Object(SETTING_FIELDS);
export type SettingFields = Static<typeof SettingFields>;

export const CreateBody = Body({
  destination_url: Type.Optional(
    Type.String({ maxLength: DESTINATION_LIMIT, description: 'Required without `destination_id`.' }),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: NAME_LIMIT,
      description: 'Campaign name; required without `destination_id`.',
    }),
  ),
  channel: Type.Optional(Channel),
  channels: Type.Optional(
    Type.Array(Channel, { minItems: 1, maxItems: CREATABLE_CHANNELS.length, description: 'One link each.' }),
  ),
  smart: Type.Optional(Type.Boolean({ description: 'One Smart Link, whose channel is inferred per click.' })),
  external_id: Type.Optional(ExternalId),
  metadata: Type.Optional(NullableMetadata),
  destination_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Adds links to this campaign, which keeps its own fields.' }),
  ),
  slug: Type.Optional(Slug),
  external: Type.Optional(
    Type.Boolean({ description: 'The destination is on a platform that the workspace does not own.' }),
  ),
  tags: Type.Optional(Tags),
  folder_id: Type.Optional(Nullable(Type.String({ format: 'uuid' }))),
  ...SETTING_FIELDS,
});
export type CreateBody = Static<typeof CreateBody>;

export const ChangeBody = Body({
  slug: Type.Optional(Slug),
  external_id: Type.Optional(Nullable(ExternalId)),
  metadata: Type.Optional(NullableMetadata),
  ...SETTING_FIELDS,
  destination_url: Type.Optional(Type.String({ maxLength: DESTINATION_LIMIT })),
  name: Type.Optional(Name),
  tags: Type.Optional(Nullable(Tags)),
  folder_id: Type.Optional(Nullable(Type.String({ format: 'uuid' }))),
});
export type ChangeBody = Static<typeof ChangeBody>;

export const BULK_LIMIT = 1_000;

export const BulkBody = Body({
  // Rows are judged one by one: a bad one is its own outcome.
  links: Type.Array(Type.Unknown(), {
    maxItems: BULK_LIMIT,
    description: 'Bodies as `POST /links` takes them.',
  }),
});

/** The record of a link, as every endpoint gives it. */
export const LinkRecord = Type.Object({
  id: Uuid,
  destination_id: Type.String({ format: 'uuid', description: 'The campaign.' }),
  name: Name,
  slug: Type.String(),
  short_url: Type.String(),
  destination: Type.String({ description: "The campaign's destination URL." }),
  channel: Nullable(Type.String({ description: 'Null: a Smart Link.' })),
  smart: Type.Boolean(),
  external: Type.Boolean(),
  external_id: Nullable(Type.String()),
  metadata: NullableMetadata,
  utm_source: Nullable(Type.String()),
  utm_medium: Nullable(Type.String()),
  utm_campaign: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  folder_id: Nullable(Uuid),
  targeting: Nullable(
    Type.Object({ mobile: Type.Optional(Type.String()), desktop: Type.Optional(Type.String()) }),
  ),
  expires_at: Nullable(Instant),
  max_clicks: Nullable(Type.Integer()),
  expired_redirect_url: Nullable(Type.String()),
  password_protected: Type.Boolean(),
  retargeting: Nullable(
    Type.Object(Object.fromEntries(PIXELS.map((name) => [name, Type.Optional(Type.String())]))),
  ),
  created_at: Instant,
  updated_at: Instant,
});
export type LinkRecord = Static<typeof LinkRecord>;

export const CreatedLinks = Type.Object({ destination_id: Uuid, links: Type.Array(LinkRecord) });

export const BulkResults = Type.Object({
  results: Type.Array(
    Type.Object({
      index: Type.Integer(),
      status: Type.Integer(),
      body: Type.Unsafe<unknown>({
        type: 'object',
        additionalProperties: true,
        description: 'What `POST /links` would have answered.',
      }),
    }),
  ),
});

/** `GET /links` in both its views. */
export const ListQuery = Type.Object({
  view: Type.Optional(
    OneOf(['records'], { description: '`records`: link records, on any plan. Without it: performance.' }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'Links per page. Ignored when `ids` is sent.',
  }),
  ...WINDOW_PARAMETERS,
  ids: Type.Optional(
    Type.String({
      description: 'Exactly these links, at most 500 ids between commas; unknown ones are left out.',
    }),
  ),
  include: Type.Optional(OneOf(['settings'], { description: 'Performance: each record under `settings`.' })),
  cursor: Type.Optional(
    Type.String({ format: 'date-time', description: "Records: the previous answer's `next_cursor`." }),
  ),
  channel: Type.Optional(
    OneOf([...CHANNELS, 'x'], { description: 'Records: links on this channel. `x` is `twitter`.' }),
  ),
  destination_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Records: links of this campaign.' }),
  ),
  slug: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: SLUG_LIMIT,
      description: 'Records: links with this in their slug, in any case of letters.',
    }),
  ),
  external_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Records: the link with this external_id.' }),
  ),
});
export type ListQuery = Static<typeof ListQuery>;

export const RecordsPage = Type.Object({ links: Type.Array(LinkRecord), next_cursor: Nullable(Instant) });

export const PerformanceRow = Type.Object({
  link_id: Uuid,
  slug: Type.String(),
  channel: Nullable(Type.String()),
  destination: Type.String(),
  clicks: Type.Integer(),
  visitors: Type.Integer(),
  conversions: Type.Number({ description: 'Fractions under `linear` attribution.' }),
  revenue: Type.Number({ description: "Major units of the workspace's currency." }),
  external_id: Type.Optional(Nullable(Type.String({ description: 'With `ids`.' }))),
  settings: Type.Optional(LinkRecord),
});
export type PerformanceRow = Static<typeof PerformanceRow>;

export const Performance = Type.Object({ window: Window, links: Type.Array(PerformanceRow) });
export type Performance = Static<typeof Performance>;
