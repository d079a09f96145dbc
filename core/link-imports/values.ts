import { cutText } from '../text/cut.ts';
import { NAME_LIMIT } from './create-row.ts';
import { parsedJson } from './parsed-json.ts';

/** Reads values as other systems write them. */

const TAG_LIMIT = 50;
/** The fields that have the text of an object in a list. */
const ITEM_NAMES = ['name', 'tag', 'label', 'title', 'text', 'value', 'slug'];
const DATABASE_TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/**
 * Returns a list: an array, JSON text of one, or text separated by commas, semicolons or bars. Objects count by their
 * `name`, `tag`, or another of {@link ITEM_NAMES}.
 */
export function listOf(value: unknown): string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? parted(value) : [];
  return items.map(itemText).filter((text) => text !== '');
}

/** Returns the tags of another system, shortened to the limit of a tag instead of losing the link. */
export function tagsOf(value: unknown): string[] {
  return [...new Set(listOf(value).map((tag) => cutText(tag, TAG_LIMIT)))].slice(0, TAG_LIMIT);
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
  if (typeof item !== 'object' || item === null) return '';
  const fields = Object.entries(item);
  const named = ITEM_NAMES.map((name) => fields.find(([key]) => key.toLowerCase() === name)?.[1]);
  const text = named.find((one) => typeof one === 'string');
  return typeof text === 'string' ? text.trim() : '';
}

/** Returns the fields that are not null. */
export function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Converts a database's time (UTC without an offset) to the form of a create; other text is unchanged. */
export function instantText(text: string): string {
  const [, date, time, offset = 'Z'] = DATABASE_TIME.exec(text) ?? [];
  return date && time ? `${date}T${time}${offset}` : text;
}

/** Returns the slug in the old system: the path of a short link's URL, or of `host/path`, without slashes around it. */
export function slugOfUrl(text: string): string {
  const path = text.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//i, '').replace(/^[^/]*\/?/, '');
  return decoded(path.replace(/[?#].*$/s, '')).replaceAll(/^\/+|\/+$/g, '');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Returns a campaign's name for a link without a title: its destination. */
function nameOfDestination(destination: string): string {
  if (!URL.canParse(destination)) return destination;
  const { host, pathname } = new URL(destination);
  return pathname === '/' ? host : host + decoded(pathname);
}

/** Returns the name of a link: its title or, without one, what it leads to. */
export function linkName(title: string | null, destination: string | null, slug: string): string {
  return cutText(title ?? nameOfDestination(destination ?? slug), NAME_LIMIT);
}
