import { slugKey } from '../../links/slugs.ts';
import { withoutTrailingDot } from '../../links/web-urls.ts';
import { RowProblem, type SourceRow } from '../source-row.ts';
import { slugOfUrl } from '../values.ts';

/** The host that a row names for its link, in lower-case ASCII, and the file's name of the column. */
export type RowHost = { column: string; host: string };

/** Columns that name the domain. In JSON also objects, such as Rebrandly's `domain: { fullName }`. */
const DOMAIN = [
  'domain',
  'domainname',
  'shortdomain',
  'customdomain',
  'brandeddomain',
  'linkdomain',
  'hostname',
  'host',
];
const NAME_IN_DOMAIN = ['fullName', 'hostname', 'domain', 'name', 'address'];
/** Columns that have the full short URL. */
const SHORT_URL = [
  'shorturl',
  'secureshorturl',
  'shortlink',
  'tinyurl',
  'bitlink',
  'shortenedurl',
  'fullshorturl',
  'fullshortlink',
  'short',
  'slug',
  'link',
];
/** What databases and programs write for a missing domain. */
const NO_DOMAIN = /^(?:|null|\\n|none|default|undefined)$/i;
const NO_HOST = 'must be a host name such as go.example.com';

/**
 * Returns the host that a row names for the link with this slug: its column for the domain, else its full short URL; null:
 * it names none.
 *
 * @param printed the full short URL where a row has several, as its format found it
 * @throws {RowProblem} when the column for the domain has something else
 */
export function hostOfRow(row: SourceRow, slug: unknown, printed?: string): RowHost | null {
  if (printed !== undefined) {
    const host = hostOfUrl(printed);
    return host === null ? null : { column: columnOf(row, printed), host };
  }
  return hostOfDomainColumn(row) ?? hostOfShortUrl(row, slug);
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

function hostOfDomainColumn(row: SourceRow): RowHost | null {
  for (const key of DOMAIN) {
    const column = row.columns.get(key);
    const text = domainText(column?.value);
    if (column === undefined || text === null) continue;
    const host = hostOfUrl(text.includes('/') ? text : `//${text}`);
    if (host === null || typeof column.value === 'number') throw new RowProblem(column.name, NO_HOST);
    return { column: column.name, host };
  }
  return null;
}

/** Leaves out numbers: they are ids of domains in another service, not hosts. */
function domainText(value: unknown): string | null {
  if (value === undefined || value === null || value === false || value === '') return null;
  if (typeof value !== 'object') {
    const text = String(value).trim();
    return NO_DOMAIN.test(text) ? null : text;
  }
  const given = value as Record<string, unknown>;
  const name = NAME_IN_DOMAIN.map((key) => given[key]).find(
    (one) => typeof one === 'string' && one.trim() !== '',
  );
  return typeof name === 'string' ? domainText(name) : null;
}

function hostOfShortUrl(row: SourceRow, slug: unknown): RowHost | null {
  if (typeof slug !== 'string') return null;
  for (const key of SHORT_URL) {
    const column = row.columns.get(key);
    if (typeof column?.value !== 'string') continue;
    const host = hostOfUrl(column.value);
    // Another column of this name may be the destination.
    if (host !== null && slugKey(slugOfUrl(column.value)) === slugKey(slug)) {
      return { column: column.name, host };
    }
  }
  return null;
}

function columnOf({ values }: SourceRow, printed: string): string {
  const found = Object.entries(values).find(([, value]) =>
    (Array.isArray(value) ? value : [value]).some((one) => typeof one === 'string' && one.includes(printed)),
  );
  return found?.[0] ?? 'domain';
}
