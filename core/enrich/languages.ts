import { createBoundedCache } from '../caching/bounded-cache.ts';

/** Primary subtags of BCP 47 that are in use: ISO 639-1, -2 and -3. */
const PRIMARY = /^[a-z]{2,3}$/;
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
/** A longer header is not a browser's. */
const HEADER_LIMIT = 512;

/** ISO 3166-1 or UN M.49, where it follows the language or its script. */
const REGION = /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2}|\d{3})(?:-|$)/;

/** Few different headers make up nearly all traffic. */
const known = createBoundedCache<string, string>(4_096);

/**
 * Returns the primary subtag of the language that a visitor prefers most, in lower case: `de` of
 * `en;q=0.8, de-AT`. Of equal weights the first counts (RFC 9110, section 12.5.4). Empty when there is none.
 *
 * @param header the value of `Accept-Language`
 */
export function preferredLanguage(header: string): string {
  if (header === '' || header.length > HEADER_LIMIT) return '';
  const before = known.get(header);
  if (before !== undefined) return before;
  const [language = ''] = mostPreferred(header.toLowerCase()).split('-', 1);
  known.set(header, language);
  return language;
}

/**
 * Returns the language that a visitor prefers most with its region, if it has one: `de-AT` of `de-AT, de;q=0.8`. Empty
 * when there is none.
 *
 * @param header the value of `Accept-Language`
 */
export function preferredLanguageTag(header: string): string {
  if (header === '' || header.length > HEADER_LIMIT) return '';
  return languageTag(mostPreferred(header.toLowerCase()));
}

/** Returns a tag's language and region as `de` or `de-AT`, without its script and variants. */
export function languageTag(tag: string): string {
  const folded = tag.toLowerCase();
  const [language = ''] = folded.split('-', 1);
  const region = REGION.exec(folded)?.[1];
  return region === undefined ? language : `${language}-${region.toUpperCase()}`;
}

/** Returns the whole tag, in lower case; empty when there is none. */
function mostPreferred(header: string): string {
  let [best, bestWeight] = ['', 0];
  for (const item of header.split(',')) {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
    const [primary = ''] = range.split('-', 1);
    const weight = weightOf(parameters);
    if (weight > bestWeight && PRIMARY.test(primary)) [best, bestWeight] = [range, weight];
  }
  return best;
}

/** A weight that is malformed is as none: 1. */
function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const value = WEIGHT.exec(parameter)?.[1];
    if (value !== undefined) return Number(value);
  }
  return 1;
}
