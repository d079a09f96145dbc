import { Type } from 'typebox';
import { REDIRECT_STATUSES } from '../../sql/links/link-settings.ts';
import { Instant, Nullable, VisibleText } from '../schemas.ts';

/** Schemas of how a link redirects: status, what is passed on or added, and the start. */

/** The value of a UTM parameter. */
export const UtmValue = Type.String({ ...VisibleText(255), title: 'UtmValue' });
const Utm = (description: string) => Type.Optional(Nullable(Type.String({ ...UtmValue, description })));
const Switch = (description: string) => Type.Optional(Nullable(Type.Boolean({ description })));

const RedirectStatus = Type.Integer({
  enum: [...REDIRECT_STATUSES],
  description:
    'Status of the redirect, 302 by default. Every redirect has `Cache-Control: no-store`, so each visit is counted.',
});
const StartsAt = {
  ...Instant,
  description: 'Before it the link is as an unknown slug. A new link of the campaign does not inherit it.',
};
const ARCHIVED =
  'Left out of lists unless `archived=include`; it redirects. A new link of the campaign does not inherit it.';

/** Fields that a create and a change share. Null restores the default. */
export const SWITCH_FIELDS = {
  utm_source: Utm('Null: the channel.'),
  utm_medium: Utm('Null: `social`, or `local` for `google_business`.'),
  utm_term: Utm('Null: none.'),
  utm_content: Utm('Null: none.'),
  redirect_status: Type.Optional(Nullable(RedirectStatus)),
  forward_query: Switch(
    "Whether the visitor's query is passed on, `true` by default. With `false`, a destination with a signature in its query (S3, Google Cloud Storage, CloudFront, Azure) gets no parameter at all.",
  ),
  forward_path: Switch(
    'Whether `/<slug>/a/b` appends `/a/b` to the path of the destination, `false` by default: then it is 404.',
  ),
  append_utm: Switch('Whether UTM parameters are added, `true` by default.'),
  append_visitor: Switch('Whether `_vid` is added, `true` by default.'),
  starts_at: Type.Optional(Nullable(StartsAt)),
  archived: Switch(ARCHIVED),
};

/** The same in a link's record; its `utm_source` and `utm_medium` are with the other fields. */
export const SWITCH_RECORD = {
  utm_term: Nullable(Type.String()),
  utm_content: Nullable(Type.String()),
  redirect_status: RedirectStatus,
  forward_query: Type.Boolean(),
  forward_path: Type.Boolean(),
  append_utm: Type.Boolean(),
  append_visitor: Type.Boolean(),
  starts_at: Nullable(StartsAt),
  archived: Type.Boolean({ description: ARCHIVED }),
};
