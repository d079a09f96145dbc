/** Attributes of the loader's script tag, and the page URL they map to. Pure. */

/** The script's `data-*` attributes, as `HTMLElement.dataset` gives them. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** `dataset` attribute by query parameter of the page. */
const PARAMETERS = {
  key: 'key',
  uid: 'userId',
  uh: 'userHash',
  email: 'userEmail',
  tier: 'userTier',
  theme: 'theme',
  language: 'language',
  accent: 'accent',
  days: 'days',
  api_base: 'apiBase',
} as const;

const SECRET_PREFIX = 'lk_';

/**
 * Builds the URL of the dashboard page. The page validates the values and shows their faults. Only the prefix of a
 * secret key is passed on, so that the page can report it.
 *
 * @param origin of the loader script
 */
export function pageUrl(attributes: Attributes, origin: string): URL {
  const url = new URL('/embed/referrals', origin);
  for (const [parameter, attribute] of Object.entries(PARAMETERS)) {
    const value = attributes[attribute]?.trim();
    if (value) url.searchParams.set(parameter, value);
  }
  const { searchParams } = url;
  if (searchParams.get('key')?.startsWith(SECRET_PREFIX)) searchParams.set('key', SECRET_PREFIX);
  // The query form has no leading "#".
  const accent = searchParams.get('accent');
  if (accent) searchParams.set('accent', accent.replace(/^#/, ''));
  return url;
}
