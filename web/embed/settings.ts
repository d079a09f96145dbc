/** Validates the page's query. Pure. */

import { isLanguage, LANGUAGES } from '../../core/languages/languages.ts';
import { embedOrigin } from '../../core/links/embed-origin.ts';

export type Theme = 'light' | 'dark';
export type Tier = 'free' | 'paid';

export type Settings = {
  key: string;
  userId: string;
  /** Proof of the user's id; null: none was given. */
  userHash: string | null;
  email: string | null;
  tier: Tier;
  theme: Theme;
  /** `#rrggbb`; null: the default. */
  accent: string | null;
  days: number;
  /** Origin of the API; null: the page's default. */
  apiBase: string | null;
};

/** An invalid parameter, named as in the query and as the loader's attribute. */
export type Problem = { parameter: string; attribute: string; message: string };

export type ReadSettings =
  | { ok: true; settings: Settings }
  /** The theme is set if it is valid, so that the message matches the host's page. */
  | { ok: false; problems: Problem[]; theme: Theme };

const ATTRIBUTES: Record<string, string> = {
  key: 'data-key',
  uid: 'data-user-id',
  uh: 'data-user-hash',
  email: 'data-user-email',
  tier: 'data-user-tier',
  theme: 'data-theme',
  language: 'data-language',
  accent: 'data-accent',
  days: 'data-days',
  api_base: 'data-api-base',
};

const FEWEST_DAYS = 7;
const MOST_DAYS = 90;
const DEFAULT_DAYS = 30;
const LONGEST_USER_ID = 200;

/**
 * Reads the page's query. An empty value counts as missing.
 *
 * @param query such as `?key=pk_live_...&uid=u1&theme=dark`
 */
export function readSettings(query: string): ReadSettings {
  const given = new URLSearchParams(query);
  const problems: Problem[] = [];
  const text = (parameter: string) => given.get(parameter)?.trim() || null;
  const refuse = (parameter: string, message: string) =>
    problems.push({ parameter, attribute: ATTRIBUTES[parameter] ?? parameter, message });
  const choice = <T extends string>(parameter: string, choices: readonly [T, ...T[]]): T => {
    const value = text(parameter);
    const found = choices.find((option) => option === value);
    if (value !== null && !found) refuse(parameter, `must be ${choices.map((c) => `"${c}"`).join(' or ')}`);
    return found ?? choices[0];
  };

  const key = text('key');
  if (key === null) refuse('key', 'is missing: give your publishable key (pk_…)');
  else if (key.startsWith('lk_')) {
    refuse('key', 'is a secret key. Never put one into a page: revoke it and use a publishable key (pk_…)');
  } else if (!key.startsWith('pk_')) refuse('key', 'must be a publishable key (pk_…)');
  const userId = text('uid');
  if (userId === null) refuse('uid', 'is missing: give the id of the signed-in user');
  else if ([...userId].length > LONGEST_USER_ID)
    refuse('uid', `must have at most ${LONGEST_USER_ID} characters`);

  const userHash = text('uh');
  if (userHash !== null && !/^[0-9a-f]{64}$/i.test(userHash)) {
    refuse('uh', 'must be the hex HMAC-SHA256 of the user id: 64 characters');
  }

  const tier = choice<Tier>('tier', ['free', 'paid']);
  const theme = choice<Theme>('theme', ['light', 'dark']);
  // The API has chosen the page's language by it.
  const language = text('language');
  if (language !== null && !isLanguage(language))
    refuse('language', `must be one of ${LANGUAGES.join(', ')}`);
  const accentText = text('accent');
  const accent = accentText === null ? null : hexColor(accentText);
  if (accentText !== null && accent === null) refuse('accent', 'must be a hex color such as 4f46e5');
  const daysText = text('days');
  const days = daysText === null ? DEFAULT_DAYS : Number(daysText);
  if (daysText !== null && !(/^\d+$/.test(daysText) && days >= FEWEST_DAYS && days <= MOST_DAYS)) {
    refuse('days', `must be a whole number from ${FEWEST_DAYS} to ${MOST_DAYS}`);
  }
  const apiBaseText = text('api_base');
  const apiBase = apiBaseText === null ? null : embedOrigin(apiBaseText);
  if (apiBaseText !== null && apiBase === null) {
    refuse('api_base', 'must be an origin such as https://api.example.com, without "_" and no IPv6 address');
  }

  if (problems.length > 0 || key === null || userId === null) return { ok: false, problems, theme };
  return {
    ok: true,
    settings: { key, userId, userHash, email: text('email'), tier, theme, accent, days, apiBase },
  };
}

/** `#rrggbb` of 3 or 6 hex digits with or without `#`; null for anything else. */
export function hexColor(text: string): string | null {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text)?.[1]?.toLowerCase();
  if (!digits) return null;
  return digits.length === 6 ? `#${digits}` : `#${digits.replace(/./g, '$&$&')}`;
}
