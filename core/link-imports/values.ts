import { parsedJson } from './parsed-json.ts';
import { nameOf, RowProblem, type SourceRow } from './source-row.ts';

/** Reading values the way other systems write them. */

const TAG_LIMIT = 50;
const DATABASE_TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * A list: an array, JSON text of one, or text parted by commas, semicolons or bars. Objects count by their `name`.
 */
export function listOf(value: unknown): string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? parted(value) : [];
  return items.map(itemText).filter((text) => text !== '');
}

/** Tags of another system: cut to the length that a tag may have, rather than losing the link. */
export function tagsOf(value: unknown): string[] {
  return [...new Set(listOf(value).map((tag) => cut(tag, TAG_LIMIT)))].slice(0, TAG_LIMIT);
}

function parted(text: string): unknown[] {
  if (text.trim().startsWith('[')) {
    try {
      const list: unknown = parsedJson(text, null);
      if (Array.isArray(list)) return list;
    } catch {
      // A tag may begin with a bracket.
    }
  }
  return text.split(/[,;|]/);
}

function itemText(item: unknown): string {
  if (typeof item === 'string') return item.trim();
  if (typeof item === 'object' && item !== null && 'name' in item) return itemText(item.name);
  return '';
}

/** The text cut to `limit` UTF-16 units, never inside a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\uD800-\uDBFF]/.test(text.charAt(limit - 1)) ? limit - 1 : limit;
  return text.slice(0, end).trimEnd();
}

/** A time as databases print it (UTC where it has no offset) in the form that a create takes; else as it is. */
export function instantText(text: string): string {
  const [, date, time, offset = 'Z'] = DATABASE_TIME.exec(text) ?? [];
  return date && time ? `${date}T${time}${offset}` : text;
}

/** The path of a short link's URL, or of `host/path`, without slashes around it: its slug in the old system. */
export function slugOfUrl(text: string): string {
  const path = text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/^[^/]*\/?/, '');
  return decoded(path.replace(/[?#].*$/s, '')).replaceAll(/^\/+|\/+$/g, '');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A campaign's name for a link that has no title: where it leads. */
export function nameOfDestination(destination: string): string {
  if (!URL.canParse(destination)) return destination;
  const { host, pathname } = new URL(destination);
  return pathname === '/' ? host : host + decoded(pathname);
}

/**
 * Refuses a row whose link asks for a password that the export does not hold in clear: without it everybody could
 * follow the link.
 */
export function refusePassword(row: SourceRow, key: string): never {
  throw new RowProblem(
    nameOf(row, key),
    'the link has a password, which the export does not hold: import it from a CSV with a password column',
  );
}
