import { LINK_PARAMETERS } from './link-parameters.ts';

/**
 * Returns the slug that a `ref_code` names. Clients send the slug, a whole referral link, or the address of the page
 * that the link leads to. A slug has neither `/` nor `?` nor `#`.
 */
export function slugOfRefCode(text: string): string {
  const [address = ''] = text.trim().split('#');
  const [path = '', query = ''] = address.split('?');
  const parameters = new URLSearchParams(query);
  const ref = LINK_PARAMETERS.map((name) => parameters.get(name)?.trim()).find(Boolean);
  return ref || (path.split('/').filter(Boolean).at(-1)?.trim() ?? '');
}
