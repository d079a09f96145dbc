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
const BIO_SLUG = /^[a-z0-9-]{3,40}$/;
const PROGRAM_CODE = /^[A-Za-z0-9_-]{3,40}$/;

/** Why a slug can't be used by anyone. Whether it is taken is for the database to decide. */
export type SlugProblem = 'invalid' | 'reserved';

/** Returns the form in which slugs are compared for uniqueness: without case. */
export function slugKey(slug: string): string {
  return slug.toLowerCase();
}

/** Returns what is wrong with a short link's slug (1-64 of `A-Z a-z 0-9 - _`), or null. */
export function linkSlugProblem(slug: string): SlugProblem | null {
  return problem(slug, LINK_SLUG);
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
