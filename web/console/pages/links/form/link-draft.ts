import { CREATABLE_CHANNELS } from '../../../../../core/enrich/channels.ts';
import { type LinkRecord, PIXEL_PLATFORMS, type PixelPlatform } from '../../../api/links.ts';
import { formatCount } from '../../../formats.ts';
import { changedFields, isAlike } from '../../../parts/changed-fields.ts';
import { cleanAddress, proposedName } from '../../../parts/clean-address.ts';
import { NO_PREVIEW, type PreviewDraft, previewBody, previewDraftOf } from '../preview/preview-draft.ts';
import { type RuleDraft, ruleDrafts, rulesBody } from '../rules/rule-drafts.ts';
import { NO_SPLIT, type SplitDraft, splitBody, splitDraft } from '../split/split-drafts.ts';
import { OWN_HOST } from './own-host.ts';

export const UTM_FIELDS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/** State of a link's form, as typed. Empty: not set. */
export type LinkDraft = {
  /** One link per channel; none: a Smart Link. Fixed for an existing link. */
  channels: string[];
  destination_url: string;
  name: string;
  /** A host of the workspace, {@link OWN_HOST}, or the default. */
  domain: string;
  slug: string;
  external: boolean;
  utm_source: string;
  utm_medium: string;
  utm_campaign: string;
  utm_term: string;
  utm_content: string;
  tags: string[];
  folder_id: string | null;
  ios: string;
  android: string;
  mobile: string;
  desktop: string;
  /** `datetime-local` value, in the viewer's time zone. */
  starts_at: string;
  /** `datetime-local` value, in the viewer's time zone. */
  expires_at: string;
  max_clicks: string;
  expired_redirect_url: string;
  password: string;
  /** Removes the password of a link that has one. */
  remove_password: boolean;
  redirect_status: LinkRecord['redirect_status'];
  forward_query: boolean;
  forward_path: boolean;
  append_utm: boolean;
  append_visitor: boolean;
  archived: boolean;
  retargeting: Record<PixelPlatform, string>;
  rules: RuleDraft[];
  split: SplitDraft;
  preview: PreviewDraft;
  external_id: string;
  /** JSON. */
  metadata: string;
};

const NO_PIXELS = Object.fromEntries(PIXEL_PLATFORMS.map((name) => [name, ''])) as LinkDraft['retargeting'];

export const EMPTY_DRAFT: LinkDraft = {
  channels: [],
  destination_url: '',
  name: '',
  domain: '',
  slug: '',
  external: false,
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
  tags: [],
  folder_id: null,
  ios: '',
  android: '',
  mobile: '',
  desktop: '',
  starts_at: '',
  expires_at: '',
  max_clicks: '',
  expired_redirect_url: '',
  password: '',
  remove_password: false,
  redirect_status: 302,
  forward_query: true,
  forward_path: false,
  append_utm: true,
  append_visitor: true,
  archived: false,
  retargeting: NO_PIXELS,
  rules: [],
  split: NO_SPLIT,
  preview: NO_PREVIEW,
  external_id: '',
  metadata: '',
};

/** The form's state for an existing link. */
export function draftOf(link: LinkRecord): LinkDraft {
  return {
    ...EMPTY_DRAFT,
    channels: link.channel === null ? [] : [link.channel],
    destination_url: link.destination,
    name: link.name,
    domain: link.domain ?? OWN_HOST,
    slug: link.slug,
    external: link.external,
    utm_source: link.utm_source ?? '',
    utm_medium: link.utm_medium ?? '',
    utm_campaign: link.utm_campaign ?? '',
    utm_term: link.utm_term ?? '',
    utm_content: link.utm_content ?? '',
    tags: link.tags,
    folder_id: link.folder_id,
    ios: link.targeting?.ios ?? '',
    android: link.targeting?.android ?? '',
    mobile: link.targeting?.mobile ?? '',
    desktop: link.targeting?.desktop ?? '',
    starts_at: link.starts_at ? localDateTime(link.starts_at) : '',
    expires_at: link.expires_at ? localDateTime(link.expires_at) : '',
    max_clicks: link.max_clicks === null ? '' : String(link.max_clicks),
    expired_redirect_url: link.expired_redirect_url ?? '',
    redirect_status: link.redirect_status,
    forward_query: link.forward_query,
    forward_path: link.forward_path,
    append_utm: link.append_utm,
    append_visitor: link.append_visitor,
    archived: link.archived,
    retargeting: { ...NO_PIXELS, ...link.retargeting },
    rules: ruleDrafts(link.rules),
    split: splitDraft(link),
    preview: previewDraftOf(link.preview),
    external_id: link.external_id ?? '',
    metadata: link.metadata ? JSON.stringify(link.metadata, null, 2) : '',
  };
}

/** A field that cannot be sent; the API validates all others. */
export class DraftProblem extends Error {
  override name = 'DraftProblem';
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** The form's state for a copy of a link, without the fields that only the original can have. */
export function draftLike(link: LinkRecord): LinkDraft {
  const known = draftOf(link);
  const [channel = null] = known.channels;
  return {
    ...known,
    // The system creates the links of all other channels.
    channels: CREATABLE_CHANNELS.some((one) => one === channel) ? known.channels : [],
    slug: '',
    external_id: '',
    archived: false,
    split: { ...known.split, winner: null },
    ...(link.utm_source === channel && { utm_source: '', utm_medium: '' }),
  };
}

/**
 * The body of `POST /links`, without fields that have their default.
 *
 * @throws {DraftProblem}
 */
export function createBody(draft: LinkDraft): Record<string, unknown> {
  const { channels, domain } = draft;
  const defaults = sharedFields(EMPTY_DRAFT);
  const shared = Object.entries(sharedFields(draft)).filter(
    ([name, value]) => !isAlike(value, defaults[name]),
  );
  return {
    ...Object.fromEntries(shared),
    // The API refuses a destination that proposes no name, so a second error about the name would mislead.
    name: draft.name.trim() || proposedName(draft.destination_url) || 'Link',
    ...(channels.length === 0
      ? { smart: true }
      : channels.length === 1
        ? { channel: channels[0] }
        : { channels }),
    ...(draft.external && { external: true }),
    ...(domain !== '' && { domain: hostOrNull(domain) }),
    // The external ID is for one link. It may have been typed before several channels were chosen.
    ...(channels.length > 1 && { external_id: undefined }),
    ...(draft.password !== '' && { password: draft.password }),
  };
}

/**
 * The body of `PATCH /links/:id`: fields that differ from the link when the form opened; null clears.
 *
 * @param now the current link: source of unchanged parts of `targeting` and `retargeting`, which are sent whole
 * @throws {DraftProblem}
 */
export function changeBody(before: LinkDraft, draft: LinkDraft, now: LinkDraft): Record<string, unknown> {
  const changed = changedFields(sharedFields(before), sharedFields(draft));
  return {
    ...changed,
    ...(draft.domain !== before.domain && { domain: hostOrNull(draft.domain) }),
    ...('targeting' in changed && {
      targeting: objectOrNull(onto(targetsOf(now), targetsOf(before), targetsOf(draft))),
    }),
    ...('retargeting' in changed && {
      retargeting: objectOrNull(onto(now.retargeting, before.retargeting, draft.retargeting)),
    }),
    ...(draft.password !== '' && { password: draft.password }),
    ...(draft.password === '' && draft.remove_password && { password: null }),
  };
}

const targetsOf = ({ ios, android, mobile, desktop }: LinkDraft) => ({
  ios: cleanAddress(ios),
  android: cleanAddress(android),
  mobile: cleanAddress(mobile),
  desktop: cleanAddress(desktop),
});

const hostOrNull = (domain: string) => (domain === OWN_HOST ? null : domain);

/** The current texts with the changed ones replaced. */
const onto = <Texts extends Record<string, string>>(now: Texts, before: Texts, draft: Texts) => ({
  ...now,
  ...changedFields(before, draft),
});

/** Fields common to creating and editing; null if empty. */
function sharedFields(draft: LinkDraft): Record<string, unknown> {
  return {
    destination_url: cleanAddress(draft.destination_url),
    name: draft.name.trim(),
    slug: draft.slug.trim(),
    ...Object.fromEntries(UTM_FIELDS.map((field) => [field, textOrNull(draft[field])])),
    tags: draft.tags,
    folder_id: draft.folder_id,
    targeting: objectOrNull(targetsOf(draft)),
    starts_at: instantOf('starts_at', draft.starts_at),
    expires_at: instantOf('expires_at', draft.expires_at),
    max_clicks: countOf(draft.max_clicks),
    expired_redirect_url: textOrNull(cleanAddress(draft.expired_redirect_url)),
    redirect_status: draft.redirect_status,
    forward_query: draft.forward_query,
    forward_path: draft.forward_path,
    append_utm: draft.append_utm,
    append_visitor: draft.append_visitor,
    archived: draft.archived,
    retargeting: objectOrNull(draft.retargeting),
    rules: rulesBody(draft.rules),
    ...splitBody(draft.split),
    preview: previewBody(draft.preview),
    external_id: textOrNull(draft.external_id),
    metadata: metadataOf(draft.metadata),
  };
}

const textOrNull = (text: string) => (text.trim() === '' ? null : text.trim());

function objectOrNull(fields: Record<string, string>): Record<string, string> | null {
  const set = Object.entries(fields).flatMap(([name, text]) =>
    text.trim() === '' ? [] : [[name, text.trim()]],
  );
  return set.length === 0 ? null : Object.fromEntries(set);
}

function instantOf(field: 'starts_at' | 'expires_at', text: string): string | null {
  if (text === '') return null;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new DraftProblem(field, 'is not a date and time');
  return date.toISOString();
}

/** The API's limit. */
const MOST_VISITS = 2_147_483_647;

function countOf(text: string): number | null {
  if (text.trim() === '') return null;
  if (!/^\d+$/.test(text.trim())) throw new DraftProblem('max_clicks', 'must be a whole number');
  const count = Number(text);
  if (count > MOST_VISITS) {
    throw new DraftProblem('max_clicks', `must be at most ${formatCount(MOST_VISITS)}`);
  }
  return count;
}

function metadataOf(text: string): object | null {
  if (text.trim() === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new DraftProblem('metadata', 'is not valid JSON, such as {"team": "ads"}');
  }
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new DraftProblem('metadata', 'must be a JSON object, such as {"team": "ads"}');
}

/** `2031-01-01T12:30` in the viewer's time zone. */
function localDateTime(instant: string): string {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
