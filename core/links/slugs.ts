import { randomBytes } from 'node:crypto';
import type { Channel } from '../enrich/channels.ts';

/** Slugs that links, pages and programs may not have: paths of the service, now or later. */
export const RESERVED_SLUGS: readonly string[] = [
  'about',
  'admin',
  'api',
  'app',
  'assets',
  'bio',
  'collect',
  'console',
  'dashboard',
  'docs',
  'embed',
  'health',
  'help',
  'login',
  'logout',
  'metrics',
  'p',
  'pixel',
  'privacy',
  'robots',
  'settings',
  'signup',
  'static',
  'status',
  'support',
  'terms',
  'www',
];

export const SLUG_LIMIT = 64;

const reserved: ReadonlySet<string> = new Set(RESERVED_SLUGS);
const LINK_SLUG = /^[A-Za-z0-9_-]{1,64}$/;
/** One to five segments of letters, marks, digits, `-` and `_` of any script. */
const KEPT_SLUG = /^[\p{L}\p{M}\p{N}_-]+(?:\/[\p{L}\p{M}\p{N}_-]+){0,4}$/u;
const ASCII = /^[\0-\x7f]*$/;
/**
 * Bytes of a kept slug's key: the link table of ingest has one byte for the length of a name, which has the domain too.
 */
const KEY_BYTES = 240;
const BIO_SLUG = /^[a-z0-9-]{3,40}$/;
const PROGRAM_CODE = /^[A-Za-z0-9_-]{3,40}$/;

/** Why a slug can't be used by anyone. Only the database knows whether it is taken. */
export type SlugProblem = 'invalid' | 'reserved';

/**
 * Returns the form in which slugs are compared, everywhere: NFC, without case by Unicode's full case folding. The key
 * of a key is itself, and `toLowerCase` does not change it.
 */
export function slugKey(slug: string): string {
  if (ASCII.test(slug)) return slug.toLowerCase();
  let folded = '';
  for (const character of slug.normalize('NFC')) folded += foldCase(character);
  return folded.normalize('NFC');
}

/**
 * Folds the case of one character alone, because `toLowerCase` gives sigma another form at the end of a word. It lowers
 * the case first, because the capital sharp s has a lower case, but the small one becomes two letters in upper case.
 * The dotless i has no other case (CaseFolding.txt, without Turkic mappings).
 */
function foldCase(character: string): string {
  return character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase();
}

/** Returns whether a slug has ASCII characters alone. */
export function isAsciiSlug(slug: string): boolean {
  return ASCII.test(slug);
}

/** Returns the first segment of a slug; null: it has only one. */
export function firstSegment(slug: string): string | null {
  const slash = slug.indexOf('/');
  return slash < 0 ? null : slug.slice(0, slash);
}

/** Returns a slug as a part of a URL's path, percent-encoded. */
export function slugInPath(slug: string): string {
  return ASCII.test(slug) ? slug : encodeURI(slug);
}

/** Returns what is wrong with a short link's slug (1-64 of `A-Z a-z 0-9 - _`), or null. */
export function linkSlugProblem(slug: string): SlugProblem | null {
  return problem(slug, LINK_SLUG);
}

/**
 * Returns what is wrong with a slug that an import keeps: as {@link linkSlugProblem}, with other letters and slashes
 * too.
 */
export function keptSlugProblem(slug: string): SlugProblem | null {
  if (!isKeptSlug(slug)) return 'invalid';
  return reserved.has(slugKey(firstSegment(slug) ?? slug)) ? 'reserved' : null;
}

/** Returns whether a link can have this slug, made here or kept by an import; reserved words too. */
export function isKeptSlug(slug: string): boolean {
  if (LINK_SLUG.test(slug)) return true;
  if (!KEPT_SLUG.test(slug)) return false;
  return [...slug].length <= SLUG_LIMIT && Buffer.byteLength(slugKey(slug)) <= KEY_BYTES;
}

/** Returns what is wrong with a bio page's slug after {@link normalizeBioSlug} (3-40 of `a-z 0-9 -`), or null. */
export function bioSlugProblem(slug: string): SlugProblem | null {
  return problem(slug, BIO_SLUG);
}

/**
 * Returns what is wrong with a program's code (3-40 of `A-Z a-z 0-9 - _`), or null. Codes and slugs share a
 * namespace.
 */
export function programCodeProblem(code: string): SlugProblem | null {
  return problem(code, PROGRAM_CODE);
}

/**
 * Normalizes a bio page's slug. `" My Page "` is `my-page`: trimmed, lower case, each run of white space one hyphen.
 */
export function normalizeBioSlug(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, '-');
}

/** Returns the slug of one of several links with a custom slug: `<slug>-<channel>`. It may be too long. */
export function channelSlug(slug: string, channel: Channel): string {
  return `${slug}-${channel}`;
}

/** Returns the n-th slug for a channel whose first link has `slug`: `-2` for the second. It may be too long. */
export function numberedSlug(slug: string, n: number): string {
  return `${slug}-${n}`;
}

/** Digits and letters without those that look alike: no `0`, `O`, `I` and `l`. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const GENERATED_LENGTH = 7;
/** Largest multiple of 58 in a byte. Larger bytes would favor the first letters. */
const FAIR = 58 * 4;

/**
 * Returns a random slug of 7 base-58 characters (2.2 trillion of them), never a reserved word. The unique
 * index decides whether it is free; the caller retries.
 */
export function generateSlug(): string {
  for (;;) {
    let slug = '';
    for (const byte of randomBytes(GENERATED_LENGTH * 2)) {
      if (byte < FAIR) slug += BASE58.charAt(byte % 58);
      if (slug.length === GENERATED_LENGTH) break;
    }
    if (slug.length === GENERATED_LENGTH && !reserved.has(slugKey(slug))) return slug;
  }
}

function problem(slug: string, form: RegExp): SlugProblem | null {
  if (!form.test(slug)) return 'invalid';
  return reserved.has(slugKey(slug)) ? 'reserved' : null;
}
