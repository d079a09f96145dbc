import { type Static, Type } from 'typebox';
import { CHANNELS } from '../../core/enrich/channels.ts';
import { LINK_STATUSES } from '../../sql/links/link-search.ts';
import { Limit, Nullable, OneOf, WINDOW_PARAMETERS, Window } from '../schemas.ts';
import { LinkRecord } from './schemas.ts';

/** Links that may be passed over. */
const OFFSET_LIMIT = 1_000_000;

export const SearchQuery = Type.Object({
  ids: Type.Optional(
    Type.String({
      description: 'These links alone, at most 500 ids between commas; unknown ones are left out.',
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Links with this in their slug, name or destination, in any case of letters.',
    }),
  ),
  channel: Type.Optional(
    OneOf([...CHANNELS, 'x', 'smart'], {
      description: 'Links on this channel; `x` is `twitter`, `smart` are Smart Links.',
    }),
  ),
  folder_id: Type.Optional(
    Type.String({ maxLength: 36, description: 'Links in this folder; `none`: in no folder.' }),
  ),
  tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Links with this tag.' })),
  status: Type.Optional(
    OneOf(LINK_STATUSES, {
      description: '`expired`: past `expires_at`; `used_up`: `max_clicks` were let through; else `active`.',
    }),
  ),
  sort: OneOf(['created', 'name', 'clicks', 'visitors', 'conversions', 'revenue'], {
    default: 'created',
    description: 'Equal ones come newest first.',
  }),
  order: OneOf(['desc', 'asc'], { default: 'desc' }),
  figures: OneOf(['include', 'exclude'], {
    default: 'include',
    description: '`exclude`: no figures and no window, on any plan, sorted by `created` or `name`.',
  }),
  limit: Limit(500, 50),
  offset: Type.Integer({
    minimum: 0,
    maximum: OFFSET_LIMIT,
    default: 0,
    description: 'Links to pass over, for the next page.',
  }),
  ...WINDOW_PARAMETERS,
});
export type SearchQuery = Static<typeof SearchQuery>;

export const FoundLinks = Type.Object({
  window: Nullable(Window),
  total: Type.Integer({ description: 'Links that were found, on all pages.' }),
  links: Type.Array(
    Type.Object({
      link: LinkRecord,
      status: OneOf(LINK_STATUSES),
      figures: Nullable(
        Type.Object({
          clicks: Type.Integer(),
          visitors: Type.Integer(),
          conversions: Type.Number({ description: 'Fractions under `linear` attribution.' }),
          revenue: Type.Number({ description: "Major units of the workspace's currency." }),
        }),
      ),
    }),
  ),
});
export type FoundLinks = Static<typeof FoundLinks>;

export const Tags = Type.Object({
  tags: Type.Array(
    Type.Object({ tag: Type.String(), links: Type.Integer({ description: 'Links that have it.' }) }),
    { description: 'The 500 most used, the most used first.' },
  ),
});
