import { AD_NETWORKS, AD_PARAMETERS, adNetworkOf } from '../clicks/ad-networks.ts';
import { CHANNELS, filterChannel } from '../enrich/channels.ts';
import { countryNamed } from '../enrich/countries.ts';
import { DEVICES } from '../enrich/devices.ts';
import { isAdClickId, type NetworkClick, NO_AD } from '../events/ad-clicks.ts';
import { isUuid } from '../ids.ts';
import { hostOfUrl } from '../link-imports/meaning/address.ts';
import { timeIn } from '../link-imports/meaning/times.ts';
import { yesNo } from '../link-imports/source-row.ts';
import { slugOfUrl } from '../link-imports/values.ts';
import { NANOS_PER_MICRO, parseInstant } from '../time/timestamps.ts';
import type { LinkName } from './click-row.ts';
import type { ImportRow } from './import-row.ts';

/** Reads values as other services write them. */

/** Most clicks of a row. */
const COUNT_LIMIT = 4_000_000_000;

/**
 * Returns the time of a row in microseconds: ISO 8601, a database's time (UTC without an offset), or seconds or
 * milliseconds since the epoch.
 *
 * @throws {RowProblem} when there is none
 */
export function timeOf(row: ImportRow, ...keys: string[]): number {
  const text = row.text(...keys);
  const nanos = parseInstant(text) ?? parseInstant(timeIn(text));
  if (nanos === null) {
    throw row.wrong('must be an ISO 8601 time such as 2025-03-01T10:00:00Z', ...keys);
  }
  return Number(nanos / NANOS_PER_MICRO);
}

/** Returns the link that a column names by its id. @throws {RowProblem} when it is no UUID */
export function linkById(row: ImportRow, ...keys: string[]): LinkName | null {
  const id = row.text(...keys).toLowerCase();
  if (id === '') return null;
  if (!isUuid(id)) throw row.wrong('must be the id of a link, a UUID', ...keys);
  return { kind: 'id', id };
}

/** Returns the link that a short URL names, also without its scheme; null: the text is empty or has no path. */
export function linkByUrl(text: string): LinkName | null {
  const slug = slugOfUrl(text);
  return slug === '' ? null : { kind: 'name', host: hostOfUrl(text), slug };
}

/** Returns the link that a slug names, and its domain if the row has one. */
export function linkBySlug(slug: string, domain: string): LinkName | null {
  if (slug.includes('://')) return linkByUrl(slug);
  const name = slug.replaceAll(/^\/+|\/+$/g, '');
  if (name === '') return null;
  const host = domain === '' ? null : hostOfUrl(domain.includes('/') ? domain : `//${domain}`);
  return { kind: 'name', host, slug: name };
}

/** Returns what a column says on whether a click is a bot's; null: unknown. @throws {RowProblem} for another text */
export function isBotIn(row: ImportRow, ...keys: string[]): boolean | null {
  const text = row.text(...keys);
  const answer = yesNo(text);
  if (answer === null && !UNKNOWN.test(text)) throw row.wrong('must be true or false', ...keys);
  return answer;
}

/** @throws {RowProblem} for anything but a whole number from 0 */
export function countOf(row: ImportRow, ...keys: string[]): number | null {
  const text = row.text(...keys);
  if (text === '') return null;
  // Spreadsheets write 16.0; 0x10 and 1e3 are no counts.
  const count = /^\d{1,10}(?:\.0+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(count) || count > COUNT_LIMIT) {
    throw row.wrong(`must be a whole number from 0 to ${COUNT_LIMIT}`, ...keys);
  }
  return count;
}

const UNKNOWN = /^(?:|-|\?\?|null|\\n|unknown|n\/a|zz|xx|direct|\(none\)|none)$/i;

/** Returns the code of a country by its code or English name; empty: unknown, or no country. */
export function countryOf(text: string): string {
  if (UNKNOWN.test(text)) return '';
  return countryNamed(text);
}

/** @throws {RowProblem} when the text names no known country */
export function countryIn(row: ImportRow, ...keys: string[]): string {
  const text = row.text(...keys);
  const country = countryOf(text);
  if (country === '' && !UNKNOWN.test(text)) {
    throw row.wrong('must be a two-letter code such as DE, or the English name of a country', ...keys);
  }
  return country;
}

/** Names of devices in other services. */
const DEVICE_NAMES: Readonly<Record<string, string>> = {
  laptop: 'desktop',
  computer: 'desktop',
  pc: 'desktop',
  smartphone: 'mobile',
  phone: 'mobile',
  phablet: 'mobile',
  'feature phone': 'mobile',
  'mobile phone': 'mobile',
  television: 'tv',
  smarttv: 'tv',
  'smart tv': 'tv',
  gaming: 'console',
  watch: 'wearable',
};

/** Returns the device that a text means; empty: unknown. */
export function deviceIn(text: string): string {
  const name = text.toLowerCase();
  if (UNKNOWN.test(name)) return '';
  const device = DEVICE_NAMES[name] ?? name;
  return DEVICES.some((one) => one === device) ? device : 'other';
}

/** Returns the channel of a row; empty: the link's. @throws {RowProblem} for an unknown one */
export function channelIn(row: ImportRow, ...keys: string[]): string {
  const text = row.text(...keys);
  if (text === '') return '';
  const channel = filterChannel(text.toLowerCase());
  if (channel === null) throw row.wrong(`must be one of ${CHANNELS.join(', ')}`, ...keys);
  return channel;
}

const MOST_ASN = 4_294_967_295;

/**
 * Returns the number of an autonomous system, also with `AS` before it; 0: unknown.
 *
 * @throws {RowProblem} for another text
 */
export function asnIn(row: ImportRow, ...keys: string[]): number {
  const text = row.text(...keys);
  if (UNKNOWN.test(text)) return 0;
  const number = /^(?:AS)?(\d{1,10})$/i.exec(text)?.[1];
  if (number === undefined || Number(number) > MOST_ASN) {
    throw row.wrong(`must be the number of an autonomous system, from 0 to ${MOST_ASN}`, ...keys);
  }
  return Number(number);
}

/**
 * Returns the id that an advertising network gave to a click.
 *
 * @throws {RowProblem} for an unknown network or parameter
 */
export function adIn(row: ImportRow): NetworkClick {
  const [param, named, id] = [row.text('adclickparam'), row.text('adnetwork'), row.text('adclickid')];
  if (param !== '' && adNetworkOf(param) === '') {
    throw row.wrong(`must be one of ${Object.keys(AD_PARAMETERS).join(', ')}`, 'adclickparam');
  }
  const network = AD_NETWORKS.find((one) => one === named.toLowerCase());
  if (named !== '' && network === undefined) {
    throw row.wrong(`must be one of ${AD_NETWORKS.join(', ')}`, 'adnetwork');
  }
  const of = adNetworkOf(param) || network;
  return of === undefined ? NO_AD : { network: of, param, id: isAdClickId(id) ? id : '' };
}

/** Returns a text, or an empty one when the source marks it as unknown. */
export const known = (text: string): string => (UNKNOWN.test(text) ? '' : text);
