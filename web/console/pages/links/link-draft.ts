import { type LinkRecord, PIXEL_PLATFORMS, type PixelPlatform } from '../../api/links.ts';
import { formatCount } from '../../formats.ts';
import { changedFields } from '../../parts/changed-fields.ts';

/** State of a link's form, as typed. Empty: not set. */
export type LinkDraft = {
  /** One link, one per channel, or a Smart Link; fixed for an existing link. */
  kind: 'one' | 'several' | 'smart';
  channel: string;
  channels: string[];
  destination_url: string;
  name: string;
  slug: string;
  external: boolean;
  utm_campaign: string;
  tags: string[];
  folder_id: string | null;
  ios: string;
  android: string;
  mobile: string;
  desktop: string;
  /** `datetime-local` value, in the viewer's time zone. */
  expires_at: string;
  max_clicks: string;
  expired_redirect_url: string;
  password: string;
  /** Removes the password of a link that has one. */
  remove_password: boolean;
  retargeting: Record<PixelPlatform, string>;
  external_id: string;
  /** JSON. */
  metadata: string;
};

const NO_PIXELS = Object.fromEntries(PIXEL_PLATFORMS.map((name) => [name, ''])) as LinkDraft['retargeting'];

export const EMPTY_DRAFT: LinkDraft = {
  kind: 'one',
  channel: '',
  channels: [],
  destination_url: '',
  name: '',
  slug: '',
  external: false,
  utm_campaign: '',
  tags: [],
  folder_id: null,
  ios: '',
  android: '',
  mobile: '',
  desktop: '',
  expires_at: '',
  max_clicks: '',
  expired_redirect_url: '',
  password: '',
  remove_password: false,
  retargeting: NO_PIXELS,
  external_id: '',
  metadata: '',
};

/** The form's state for an existing link. */
export function draftOf(link: LinkRecord): LinkDraft {
  return {
    ...EMPTY_DRAFT,
    kind: link.smart ? 'smart' : 'one',
    channel: link.channel ?? '',
    destination_url: link.destination,
    name: link.name,
    slug: link.slug,
    external: link.external,
    utm_campaign: link.utm_campaign ?? '',
    tags: link.tags,
    folder_id: link.folder_id,
    ios: link.targeting?.ios ?? '',
    android: link.targeting?.android ?? '',
    mobile: link.targeting?.mobile ?? '',
    desktop: link.targeting?.desktop ?? '',
    expires_at: link.expires_at ? localDateTime(link.expires_at) : '',
    max_clicks: link.max_clicks === null ? '' : String(link.max_clicks),
    expired_redirect_url: link.expired_redirect_url ?? '',
    retargeting: { ...NO_PIXELS, ...link.retargeting },
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

/**
 * The body of `POST /links`, without empty fields.
 *
 * @throws {DraftProblem}
 */
export function createBody(draft: LinkDraft): Record<string, unknown> {
  const fields: Record<string, unknown> = {
    ...(draft.kind === 'one' && { channel: draft.channel }),
    ...(draft.kind === 'several' && { channels: draft.channels }),
    ...(draft.kind === 'smart' && { smart: true }),
    ...(draft.external && { external: true }),
    ...sharedFields(draft),
    // The external ID is for one link. It may have been typed before several channels were chosen.
    ...(draft.kind === 'several' && { external_id: null }),
    ...(draft.password !== '' && { password: draft.password }),
  };
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  );
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

const targetsOf = ({ ios, android, mobile, desktop }: LinkDraft) => ({ ios, android, mobile, desktop });

/** The current texts with the changed ones replaced. */
const onto = <Texts extends Record<string, string>>(now: Texts, before: Texts, draft: Texts) => ({
  ...now,
  ...changedFields(before, draft),
});

/** Fields common to creating and editing; null if empty. */
function sharedFields(draft: LinkDraft): Record<string, unknown> {
  return {
    destination_url: draft.destination_url.trim(),
    name: draft.name.trim(),
    slug: draft.slug.trim(),
    utm_campaign: textOrNull(draft.utm_campaign),
    tags: draft.tags,
    folder_id: draft.folder_id,
    targeting: objectOrNull(targetsOf(draft)),
    expires_at: expiryOf(draft.expires_at),
    max_clicks: countOf(draft.max_clicks),
    expired_redirect_url: textOrNull(draft.expired_redirect_url),
    retargeting: objectOrNull(draft.retargeting),
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

function expiryOf(text: string): string | null {
  if (text === '') return null;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new DraftProblem('expires_at', 'is not a date and time');
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
