/** What the loader reads from its script tag, and the address of the page that follows from it. Pure. */

/** The script's `data-*` attributes, as `HTMLElement.dataset` gives them. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** Attribute of `dataset` by query parameter of the page. */
const PARAMETERS = {
  key: 'key',
  uid: 'userId',
  email: 'userEmail',
  tier: 'userTier',
  theme: 'theme',
  accent: 'accent',
  days: 'days',
  api_base: 'apiBase',
} as const;

const SECRET_PREFIX = 'lk_';

/**
 * The address of the dashboard page. Values are handed on as they are: the page judges them and says what is wrong
 * where it is seen. A secret key alone stays behind, and its bare prefix tells the page of it.
 *
 * @param origin where the script was loaded from
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
