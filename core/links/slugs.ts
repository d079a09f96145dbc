import { randomBytes } from 'node:crypto';
import type { Channel } from '../enrich/channels.ts';

/** Slugs that no link, page or programme may have: the service's own paths, now and later. */
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
const BIO_SLUG = /^[a-z0-9-]{3,40}$/;
const PROGRAM_CODE = /^[A-Za-z0-9_-]{3,40}$/;

/** Why a slug can't be used whatever else exists; `taken` is for the store to say. */
export type SlugProblem = 'invalid' | 'reserved';

/** The form in which slugs are compared for uniqueness: without case. */
export function slugKey(slug: string): string {
  return slug.toLowerCase();
}

/** What is wrong with a short link's slug (1-64 of `A-Z a-z 0-9 - _`), null when nothing is. */
export function linkSlugProblem(slug: string): SlugProblem | null {
  return problem(slug, LINK_SLUG);
}

/** What is wrong with a bio page's slug after {@link normaliseBioSlug} (3-40 of `a-z 0-9 -`). */
export function bioSlugProblem(slug: string): SlugProblem | null {
  return problem(slug, BIO_SLUG);
}

/** What is wrong with a programme's code (3-40 of `A-Z a-z 0-9 - _`), which lives among the slugs. */
export function programCodeProblem(code: string): SlugProblem | null {
  return problem(code, PROGRAM_CODE);
}

/** `" My Page "` is `my-page`: trimmed, lower case, each run of white space one hyphen. */
export function normaliseBioSlug(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, '-');
}

/** The slug of one link among several made with a custom slug: `<slug>-<channel>`. May be too long. */
export function channelSlug(slug: string, channel: Channel): string {
  return `${slug}-${channel}`;
}

/** The n-th slug for a channel whose first link already has `slug`: `-2` for the second. May be too long. */
export function numberedSlug(slug: string, n: number): string {
  return `${slug}-${n}`;
}

/** Digits and letters that nobody mistakes for one another: no `0`, `O`, `I` and `l`. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const GENERATED_LENGTH = 7;
/** Largest multiple of 58 in a byte: bytes from here on would favour the first letters. */
const FAIR = 58 * 4;

/**
 * A random slug of 7 base-58 characters (2.2 million million of them), never a reserved word. Whether it is
 * free is for the unique index to say; the caller tries again.
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
