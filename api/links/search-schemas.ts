import { type Static, Type } from 'typebox';
import { CHANNELS } from '../../core/enrich/channels.ts';
import { DOMAIN_LIMIT } from '../../core/links/domains.ts';
import { LINK_KINDS, LINK_STATUSES } from '../../sql/links/link-search.ts';
import {
  Figures,
  Limit,
  LinkIds,
  Nullable,
  OneOf,
  VisibleText,
  WINDOW_PARAMETERS,
  Window,
} from '../schemas.ts';
import { LinkRecord } from './schemas.ts';

/** Largest `offset`. */
const OFFSET_LIMIT = 1_000_000;

export const SearchQuery = Type.Object({
  ids: Type.Optional(
    LinkIds('Only these links: at most 500 ids, separated by commas. Unknown ids are left out.'),
  ),
  q: Type.Optional(VisibleText(200, 'Text in the slug, name or destination, ignoring case.')),
  channel: Type.Optional(
    OneOf([...CHANNELS, 'x', 'smart'], {
      description: 'Links on this channel. `x` means `twitter`, `smart` means Smart Links.',
    }),
  ),
  domain: Type.Optional(VisibleText(DOMAIN_LIMIT, "Links on this domain. `none`: on the deployment's own.")),
  folder_id: Type.Optional(
    Type.String({ maxLength: 36, description: 'Links in this folder. `none`: links without a folder.' }),
  ),
  tag: Type.Optional(VisibleText(50, 'Links with this tag.')),
  status: Type.Optional(
    OneOf(LINK_STATUSES, {
      description:
        '`expired`: past `expires_at`. `used_up`: `max_clicks` visits were redirected. Else `active`.',
    }),
  ),
  kind: Type.Optional(
    OneOf(LINK_KINDS, {
      description:
        'Links that a person or a key made (`own`), of referrers (`referral`), of bio buttons (`bio`), or codes of programs (`program`).',
    }),
  ),
  archived: Type.Optional(
    OneOf(['include', 'only'], {
      description: '`include` adds archived links, which are left out except by `ids`. `only`: no others.',
    }),
  ),
  sort: OneOf(['created', 'name', 'clicks', 'visitors', 'conversions', 'revenue'], {
    default: 'created',
    description: 'Ties are sorted newest first.',
  }),
  order: OneOf(['desc', 'asc'], { default: 'desc' }),
  figures: OneOf(['include', 'exclude'], {
    default: 'include',
    description: '`exclude`: without figures and window, on any plan, sorted by `created` or `name`.',
  }),
  limit: Limit(500, 50),
  offset: Type.Integer({
    minimum: 0,
    maximum: OFFSET_LIMIT,
    default: 0,
    description: 'Links to skip, for the next page.',
  }),
  ...WINDOW_PARAMETERS,
});
export type SearchQuery = Static<typeof SearchQuery>;

const LinkStatus = OneOf(LINK_STATUSES, { title: 'LinkStatus' });

const FoundLink = Type.Object(
  { link: LinkRecord, status: LinkStatus, figures: Nullable(Figures) },
  { title: 'FoundLink' },
);

export const FoundLinks = Type.Object(
  {
    window: Nullable(Window),
    total: Type.Integer({ description: 'Matching links on all pages.' }),
    links: Type.Array(FoundLink),
  },
  { title: 'LinkSearchResults' },
);
export type FoundLinks = Static<typeof FoundLinks>;

const TagCount = Type.Object(
  { tag: Type.String(), links: Type.Integer({ description: 'Number of links with the tag.' }) },
  { title: 'TagCount' },
);

export const Tags = Type.Object(
  { tags: Type.Array(TagCount, { description: 'The 500 most used tags, most used first.' }) },
  { title: 'TagList' },
);
