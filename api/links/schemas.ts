import { type Static, Type } from 'typebox';
import { CHANNELS, CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { DESTINATION_LIMIT } from '../../core/links/destinations.ts';
import { DOMAIN_LIMIT } from '../../core/links/domains.ts';
import { SLUG_LIMIT } from '../../core/links/slugs.ts';
import { ErrorBody } from '../error-schemas.ts';
import {
  Body,
  Cursor,
  DESTINATION,
  ExternalId,
  FIGURES,
  Instant,
  Leads,
  LinkIds,
  NAME,
  NextCursor,
  Nullable,
  NullableMetadata,
  OneOf,
  Url,
  Uuid,
  VisibleText,
  WINDOW_PARAMETERS,
  Window,
} from '../schemas.ts';
import { DECISION_FIELDS, DECISION_RECORD } from './decision-schemas.ts';
import { PIXEL_IDS } from './pixel-ids.ts';
import { PREVIEW_FIELDS, PREVIEW_RECORD } from './preview-schemas.ts';
import { SWITCH_FIELDS, SWITCH_RECORD, UtmValue } from './switch-schemas.ts';

const MAX_CLICKS = 2_147_483_647;
const NAME_LIMIT = 200;
const TAG_LIMIT = 50;
const TAGS_LIMIT = 50;
const PASSWORD_LIMIT = 200;

const Name = Type.String({
  minLength: 1,
  maxLength: NAME_LIMIT,
  pattern: NAME,
  title: 'CampaignName',
  description: 'Name of the campaign.',
});
const Slug = Type.String({
  minLength: 1,
  maxLength: SLUG_LIMIT,
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'Looked up with its case, unique without. Reserved words are refused.',
});
const Domain = Nullable(
  Type.String({
    minLength: 1,
    maxLength: DOMAIN_LIMIT,
    description: "A verified domain of the workspace; null: the deployment's own.",
  }),
);
const ShownDomain = Nullable(Type.String({ description: "Domain of the link; null: the deployment's own." }));
const Tags = Type.Array(Type.String({ ...VisibleText(TAG_LIMIT), title: 'Tag' }), {
  maxItems: TAGS_LIMIT,
});
const Channel = OneOf([...CREATABLE_CHANNELS, 'x'], {
  title: 'CreatableChannel',
  description: '`x` means `twitter`.',
});

const RETARGETING = {
  title: 'Retargeting',
  description:
    'Pixel ids by platform. A page fires the pixels, then forwards. Visitors with Global Privacy Control (`Sec-GPC: 1`) are redirected without it.',
};
const Pixel = (platform: keyof typeof PIXEL_IDS) =>
  Type.Optional(Type.String({ shown: { pattern: PIXEL_IDS[platform].source } }));
const PIXELS = {
  facebook: Pixel('facebook'),
  google: Pixel('google'),
  tiktok: Pixel('tiktok'),
  linkedin: Pixel('linkedin'),
  x: Pixel('x'),
  pinterest: Pixel('pinterest'),
};

/** Settings of a link that a create and a change share. Null clears. */
const SETTING_FIELDS = {
  utm_campaign: Type.Optional(Nullable(UtmValue)),
  ...DECISION_FIELDS,
  ...SWITCH_FIELDS,
  expires_at: Type.Optional(Nullable({ ...Instant, description: 'In the years 1970 to 9999.' })),
  max_clicks: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: MAX_CLICKS,
        description: 'Exact number of visits that are redirected. A returning visitor counts each time.',
      }),
    ),
  ),
  expired_redirect_url: Type.Optional(
    Nullable(
      Type.String({
        format: 'uri',
        maxLength: DESTINATION_LIMIT,
        description: `Where an expired or used-up link redirects, instead of responding with 410. ${DESTINATION}`,
      }),
    ),
  ),
  password: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: PASSWORD_LIMIT }))),
  retargeting: Type.Optional(Nullable(Body(PIXELS, RETARGETING))),
  ...PREVIEW_FIELDS,
};

const SettingFields = Type.Object(SETTING_FIELDS);
export type SettingFields = Static<typeof SettingFields>;

export const CreateBody = Body(
  {
    destination_url: Type.Optional(
      Type.String({
        format: 'uri',
        maxLength: DESTINATION_LIMIT,
        description: `Required without \`destination_id\`. ${DESTINATION}`,
      }),
    ),
    name: Type.Optional(
      Type.String({
        ...Name,
        description: 'Name of the campaign. Required without `destination_id`.',
      }),
    ),
    channel: Type.Optional(Channel),
    channels: Type.Optional(
      Type.Array(Channel, {
        minItems: 1,
        maxItems: CREATABLE_CHANNELS.length,
        shown: { uniqueItems: true },
        description: 'Creates one link for each channel.',
      }),
    ),
    smart: Type.Optional(
      Type.Boolean({
        description: 'Creates one Smart Link, whose channel is inferred for each click.',
      }),
    ),
    external_id: Type.Optional(ExternalId),
    metadata: Type.Optional(NullableMetadata),
    destination_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Adds links to this campaign, which keeps its own fields.',
      }),
    ),
    domain: Type.Optional(Domain),
    slug: Type.Optional(Slug),
    external: Type.Optional(
      Type.Boolean({ description: 'The destination is on a platform that the workspace does not own.' }),
    ),
    tags: Type.Optional(Tags),
    folder_id: Type.Optional(Nullable(Uuid)),
    ...SETTING_FIELDS,
  },
  { title: 'CreateLinks' },
);
export type CreateBody = Static<typeof CreateBody>;

export const ChangeBody = Body(
  {
    domain: Type.Optional(Domain),
    slug: Type.Optional(Slug),
    external_id: Type.Optional(Nullable(ExternalId)),
    metadata: Type.Optional(NullableMetadata),
    ...SETTING_FIELDS,
    destination_url: Type.Optional(
      Type.String({ format: 'uri', maxLength: DESTINATION_LIMIT, description: DESTINATION }),
    ),
    name: Type.Optional(Name),
    tags: Type.Optional(Nullable(Tags)),
    folder_id: Type.Optional(Nullable(Uuid)),
  },
  { title: 'UpdateLink' },
);
export type ChangeBody = Static<typeof ChangeBody>;

const BULK_LIMIT = 1_000;

const BULK = { title: 'BulkCreateLinks' };

export const BulkBody = Body(
  // Rows are validated one by one: each row has its own result.
  { links: Type.Array(Type.Unknown(), { minItems: 1, maxItems: BULK_LIMIT }) },
  BULK,
);

/** {@link BulkBody} for the document, with typed rows. */
export const BulkBodyShown = Body(
  { links: Type.Array(CreateBody, { minItems: 1, maxItems: BULK_LIMIT }) },
  BULK,
);

/** The record of a link, in every response that has one. */
export const LinkRecord = Type.Object(
  {
    id: Uuid,
    destination_id: Type.String({ format: 'uuid', description: 'The campaign.' }),
    name: Type.String({ description: 'Name of the campaign.' }),
    domain: ShownDomain,
    slug: Type.String({
      description:
        'An imported link may have slashes and letters beyond ASCII, percent-encoded in `short_url`.',
    }),
    short_url: Url,
    destination: Type.String({ format: 'uri', description: 'Destination URL of the campaign.' }),
    channel: Nullable(Type.String({ description: 'Null for a Smart Link.' })),
    smart: Type.Boolean(),
    external: Type.Boolean(),
    external_id: Nullable(Type.String()),
    metadata: NullableMetadata,
    utm_source: Nullable(Type.String()),
    utm_medium: Nullable(Type.String()),
    utm_campaign: Nullable(Type.String()),
    tags: Type.Array(Type.String()),
    folder_id: Nullable(Uuid),
    ...DECISION_RECORD,
    ...SWITCH_RECORD,
    expires_at: Nullable(Instant),
    max_clicks: Nullable(Type.Integer()),
    expired_redirect_url: Nullable(Url),
    password_protected: Type.Boolean(),
    retargeting: Nullable(Type.Object(PIXELS, RETARGETING)),
    ...PREVIEW_RECORD,
    created_at: Instant,
    updated_at: Instant,
  },
  { title: 'Link' },
);
export type LinkRecord = Static<typeof LinkRecord>;

export const CreatedLinks = Type.Object(
  { destination_id: Uuid, links: Type.Array(LinkRecord) },
  { title: 'CreatedLinks' },
);

const BULK_RESULT = {
  index: Type.Integer({ description: 'Index of the row in the request, from 0.' }),
  status: Type.Integer({ description: 'The status that `POST /links` would respond with.' }),
};

export const BulkResults = Type.Object({
  results: Type.Array(
    Type.Object({
      ...BULK_RESULT,
      body: Type.Unsafe<unknown>({ type: 'object', additionalProperties: true }),
    }),
  ),
});

/** {@link BulkResults} for the document, with typed rows. */
export const BulkResultsShown = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          ...BULK_RESULT,
          body: Type.Union([CreatedLinks, ErrorBody], {
            description: 'The body that `POST /links` would respond with.',
          }),
        },
        { title: 'BulkResult' },
      ),
    ),
  },
  { title: 'BulkResults' },
);

/** `GET /links` in both its views. */
export const ListQuery = Type.Object({
  view: Type.Optional(
    OneOf(['records'], {
      description:
        '`records`: the response is a `LinkRecordsPage`, on any plan. Omitted: the response is a `LinkPerformance`.',
    }),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 500,
    default: 100,
    description: 'Links per page. Ignored with `ids`.',
  }),
  ...WINDOW_PARAMETERS,
  ids: Type.Optional(
    LinkIds('Exactly these links: at most 500 ids, separated by commas. Unknown ids are left out.'),
  ),
  include: Type.Optional(
    OneOf(['settings'], { description: 'Performance: adds the link record of each row as `settings`.' }),
  ),
  cursor: Type.Optional({ ...Cursor, description: 'Records: the `next_cursor` of the previous page.' }),
  channel: Type.Optional(
    OneOf([...CHANNELS, 'x'], { description: 'Records: links on this channel. `x` means `twitter`.' }),
  ),
  domain: Type.Optional(
    VisibleText(DOMAIN_LIMIT, "Records: links on this domain. `none`: on the deployment's own."),
  ),
  destination_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'Records: links of this campaign.' }),
  ),
  slug: Type.Optional(VisibleText(SLUG_LIMIT, 'Records: links with this text in their slug, ignoring case.')),
  external_id: Type.Optional(
    Type.String({ ...ExternalId, description: 'Records: the link with this `external_id`.' }),
  ),
  archived: Type.Optional(
    OneOf(['include'], {
      description:
        'Adds archived links. Left out, they appear only where `ids`, `slug` or `external_id` name them.',
    }),
  ),
});
export type ListQuery = Static<typeof ListQuery>;

export const RecordsPage = Type.Object(
  { links: Type.Array(LinkRecord), next_cursor: NextCursor },
  { title: 'LinkRecordsPage', description: 'The response with `view=records`.' },
);

export const PerformanceRow = Type.Object(
  {
    link_id: Uuid,
    domain: ShownDomain,
    slug: Type.String(),
    channel: Nullable(Type.String({ description: 'Null for a Smart Link.' })),
    destination: Url,
    ...FIGURES,
    leads: Leads,
    external_id: Type.Optional(Nullable(Type.String({ description: 'Only with `ids`.' }))),
    settings: Type.Optional(LinkRecord),
  },
  { title: 'LinkPerformanceRow' },
);
export type PerformanceRow = Static<typeof PerformanceRow>;

export const Performance = Type.Object(
  { window: Window, links: Type.Array(PerformanceRow) },
  { title: 'LinkPerformance', description: 'The response without `view`.' },
);
export type Performance = Static<typeof Performance>;
