import { slugKey } from '../../links/slugs.ts';
import { withoutTrailingDot } from '../../links/web-urls.ts';
import { type NestedValue, nestedValues } from '../nested-values.ts';
import { columnKey, RowProblem, type SourceRow } from '../source-row.ts';
import { slugOfUrl } from '../values.ts';
import { SLUGS } from './link-names.ts';

/**
 * The host that a row names for its link, in lower-case ASCII, and the file's name of the column. Null: the row names
 * its domain by an id of the other service.
 */
export type RowHost = { column: string; host: string | null };

/** What may precede the word: `short_domain`, `link.domain`. */
const BEFORE = '(?:short|shortlink|shorturl|custom|branded|vanity|link|own|meta|the|my)*';
/** The word for a domain in the languages of the services. */
const WORD = '(?:domains?|dom[aä]ne|domaine|dominio|domínio|домен|域名|ドメイン|host(?:name)?)';
/**
 * Keys that name the domain, with the keys around them in JSON: `domainName`, Rebrandly's `domain: { fullName }`. The
 * list goes before the rest, in this order.
 */
const FIRST = [
  'domain',
  'domainname',
  'domainfullname',
  'shortdomain',
  'customdomain',
  'brandeddomain',
  'linkdomain',
  'hostname',
  'host',
];
const IS_DOMAIN = new RegExp(
  `^${BEFORE}${WORD}(?:full|name|host|hostname|domain|value|text|url|address|slug|unicode|ascii|punycode|\\d)*$`,
);
/** Keys that name the domain by an id of the other service. */
const IS_ID = new RegExp(`^${BEFORE}${WORD}\\d*(?:ids?|uu?id|guid|ref|href|key|number|no|nr|pk)$`);
/** Other keys with the word, whose value is a host: of the link, unless they are about something else. */
const HAS_WORD = /domain|домен|域名|ドメイン/;
const OF_OTHER =
  /^url|dest|target|long|orig|landing|root|primary|refer|user|owner|creator|author(?!ity)|account|workspace|team|mail|allow|block|expire|fallback|notfound|404|cookie/;
/** Columns that have the full short URL, or something else. */
const MAY_BE_SHORT_URL = [...SLUGS, 'link', 'permalink'];
const SHORT_URL = new RegExp(
  `^(?:${MAY_BE_SHORT_URL.join('|')})$|^(?:link|urls?|meta)*(?:secure)?(?:full)?(?:short(?:ened)?|tiny|branded|vanity)(?:link|url|address|full|href|text|value)*$|^bitlink$`,
);
/** What databases and programs write for a missing domain. */
const NO_DOMAIN = /^(?:|null|\\n|none|default|undefined)$/i;
const NO_HOST = 'must be a host name such as go.example.com';
const SEVERAL = 'names several domains: give each a row of its own, with its domain in a column `domain`';
export const ONLY_ID =
  'names the domain by an id, which the file does not explain: add its host name in a column `domain`, or make such links on another domain (`unproven`: move)';

/**
 * Returns the host that a row names for the link with this slug: its key for the domain, else its full short URL; null:
 * it names none. In JSON keys of objects in the row count too.
 *
 * @param printed the full short URL where a row has several, as its format found it
 * @throws {RowProblem} when the column for the domain has something else
 */
export function hostOfRow(row: SourceRow, slug: unknown, printed?: string): RowHost | null {
  if (printed !== undefined) {
    const host = hostOfUrl(printed);
    return host === null ? null : { column: columnOf(row, printed), host };
  }
  const entries = entriesOf(row);
  const named = entries.filter(({ key, value }) => IS_DOMAIN.test(key) && domainText(value) !== null);
  const ids = entries.filter((entry) => isOfDomain(entry) && isId(entry.value));
  for (const { top } of entries.filter(({ key }) => IS_DOMAIN.test(key) || IS_ID.test(key))) {
    row.columns.get(columnKey(top));
  }
  const found =
    hostOfDomain(named) ?? hostOfShortUrl(entries, slug) ?? hostOfDomain(entries.filter(isOtherDomain));
  if (found !== null) row.columns.get(columnKey(found.top));
  const [id] = ids;
  if (found === null && id) return { column: id.column, host: null };
  return found && { column: found.column, host: found.host };
}

/** Returns the slug of a row's full short URL, whose format found none; null: it has no such URL. */
export function slugOfShortUrl(row: SourceRow): string | null {
  for (const { key, top, value } of entriesOf(row)) {
    if (typeof value !== 'string' || !SHORT_URL.test(key) || hostOfUrl(value) === null) continue;
    row.columns.get(columnKey(top));
    const slug = slugOfUrl(value);
    if (slug !== '') return slug;
  }
  return null;
}

/** A value with its path in one key: `domain.fullName` and `Domain full name` are `domainfullname`. */
type Entry = NestedValue & { key: string };

function entriesOf(row: SourceRow): Entry[] {
  return nestedValues(row.values).map((one) => ({ ...one, key: one.path.join('') }));
}

/**
 * Returns the host of a full short URL: `https://host/x`, `//host/x`, or `host.example/x`; in lower-case ASCII, without
 * port and final dot. Null: there is none, as in `docs/intro`.
 */
export function hostOfUrl(text: string): string | null {
  const [, scheme, host = ''] = /^((?:https?:)?\/\/)?([^/\\?#\s]+)(?:\/|$)/i.exec(text.trim()) ?? [];
  if (scheme === undefined && !(/[.:]/.test(host) && text.includes('/'))) return null;
  return asciiHost(host);
}

/** Returns a host name in lower-case ASCII, without port and final dot; null: it is none. */
function asciiHost(text: string): string | null {
  if (!URL.canParse(`http://${text}`)) return null;
  const { hostname, pathname, search, hash } = new URL(`http://${text}`);
  const isWhole = pathname === '/' && search === '' && hash === '' && !/[\s/\\?#@]/.test(text);
  return isWhole && hostname !== '' ? withoutTrailingDot(hostname) : null;
}

/** @throws {RowProblem} when one is not a host, or a list has several */
function hostOfDomain(named: readonly Entry[]): (Entry & { host: string }) | null {
  const rank = ({ key }: Entry) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  const [first] = named.toSorted((a, b) => rank(a) - rank(b));
  if (first === undefined) return null;
  const placeInList = ({ top, key }: Entry) => `${top} ${key.replaceAll(/\d/g, '')}`;
  const alike = named.filter((one) => placeInList(one) === placeInList(first)).map(hostIn);
  if (new Set(alike).size > 1) throw new RowProblem(first.top, SEVERAL);
  return { ...first, host: hostIn(first) };
}

function hostIn({ column, value }: Entry): string {
  const text = domainText(value) ?? '';
  const host = hostOfUrl(text.includes('/') ? text : `//${text}`);
  if (host === null || typeof value === 'number') throw new RowProblem(column, NO_HOST);
  return host;
}

function domainText(value: unknown): string | null {
  if (value === undefined || value === null || value === false) return null;
  const text = String(value).trim();
  return NO_DOMAIN.test(text) ? null : text;
}

/** Whether an entry is the domain's id, or a value inside an object that is the domain. */
const isOfDomain = ({ key, path }: Entry): boolean =>
  IS_ID.test(key) || (path.length > 1 && IS_DOMAIN.test(path[0] ?? ''));

const isId = (value: unknown): boolean =>
  value !== true && domainText(value) !== null && String(value).trim() !== '0';

function isOtherDomain({ key, value }: Entry): boolean {
  if (!HAS_WORD.test(key) || OF_OTHER.test(key) || typeof value !== 'string') return false;
  return /^[^\s.]+(?:\.[^\s.]+)+$/.test(value.trim()) && hostOfUrl(`//${value.trim()}`) !== null;
}

function hostOfShortUrl(entries: readonly Entry[], slug: unknown): (Entry & { host: string }) | null {
  if (typeof slug !== 'string') return null;
  for (const entry of entries) {
    if (typeof entry.value !== 'string' || !SHORT_URL.test(entry.key)) continue;
    const host = hostOfUrl(entry.value);
    // A column `link` or `slug` may have the destination.
    const isShort = !MAY_BE_SHORT_URL.includes(entry.key);
    if (host !== null && (isShort || slugKey(slugOfUrl(entry.value)) === slugKey(slug)))
      return { ...entry, host };
  }
  return null;
}

function columnOf({ values }: SourceRow, printed: string): string {
  const found = Object.entries(values).find(([, value]) =>
    (Array.isArray(value) ? value : [value]).some((one) => typeof one === 'string' && one.includes(printed)),
  );
  return found?.[0] ?? 'domain';
}
