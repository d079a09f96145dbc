// Browsers run this file too.
/** Columns that have the full short URL of a link, the most telling first. */
export const SHORT_URLS = [
  'shorturl',
  'secureshorturl',
  'shortlink',
  'shortenedurl',
  'tinyurl',
  'bitlink',
  'short',
];
/** Columns that have only the slug; in lists that people write also the full short URL. */
export const SLUGS = ['slug', 'slashtag', 'shortcode', 'keyword', 'alias', 'backhalf'];
/** Columns that name a link, the most telling first. */
export const LINK_NAMES = [...SHORT_URLS, ...SLUGS, 'address', 'path', 'key', 'link', 'source', 'externalid'];
