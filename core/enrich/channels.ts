// Browsers run this file too.
/** The channels that a create may name, as the specification lists them. */
export const CREATABLE_CHANNELS = [
  'facebook',
  'instagram',
  'youtube',
  'linkedin',
  'twitter',
  'tiktok',
  'newsletter',
  'website',
  'other',
  'threads',
  'bluesky',
  'mastodon',
  'pinterest',
  'reddit',
  'telegram',
  'discord',
  'tumblr',
  'google_business',
  'nostr',
  'lemmy',
  'slack',
  'devto',
] as const;

/** All channels of clicks: the creatable ones, and those of bio buttons and referral links. */
export const CHANNELS = [...CREATABLE_CHANNELS, 'bio', 'referral'] as const;

export type CreatableChannel = (typeof CREATABLE_CHANNELS)[number];
export type Channel = (typeof CHANNELS)[number];

const CREATABLE: ReadonlySet<string> = new Set(CREATABLE_CHANNELS);
const ALL: ReadonlySet<string> = new Set(CHANNELS);

/** Returns whether `text` is a channel key. Keys are exact: lower case, no alias. */
export function isChannel(text: string): text is Channel {
  return ALL.has(text);
}

/**
 * Returns the channel that a create or an import names. `x` is twitter.
 *
 * @returns null when `text` is not a channel, or one of bio pages or referral links
 */
export function creatableChannel(text: string): CreatableChannel | null {
  const key = text === 'x' ? 'twitter' : text;
  return CREATABLE.has(key) ? (key as CreatableChannel) : null;
}

/** Returns the channel that a filter names: as {@link creatableChannel}, and `bio` and `referral` too. */
export function filterChannel(text: string): Channel | null {
  return creatableChannel(text) ?? (isChannel(text) ? text : null);
}

/** Returns the `utm_medium` of a channel; its `utm_source` is the key itself. */
export function utmMediumOf(channel: Channel): 'social' | 'local' {
  return channel === 'google_business' ? 'local' : 'social';
}
