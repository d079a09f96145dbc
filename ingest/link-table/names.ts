import { isAsciiSlug, slugKey } from '../../core/links/slugs.ts';
import { type Name, OWN_DOMAIN, prefixSlug } from '../../sql/links/slugs.ts';

/**
 * Names in the table. A link on the deployment's own domain, a page and a program have their slug; a link on another
 * domain, and one whose slug has a slash, `<domain number>/<slug>`. A slug beyond ASCII is in the form of its key: case
 * is ignored for ASCII alone. Records of domains and of workspaces' policies have names that are no address.
 */

/** Returns a name as the table has it. */
export function nameOf(domainNumber: number, slug: string): string {
  const spelled = isAsciiSlug(slug) ? slug : slugKey(slug);
  return domainNumber === OWN_DOMAIN && !spelled.includes('/') ? spelled : `${domainNumber}/${spelled}`;
}

/** Returns a name in lower case: one for every spelling. */
export function lowerNameOf(domainNumber: number, slug: string): string {
  return nameOf(domainNumber, slugKey(slug));
}

/** Returns the name of the record that says that slugs of several segments begin with this one. */
export function prefixName(domainNumber: number, segment: string): string {
  return nameOf(domainNumber, prefixSlug(segment));
}

/** Returns the parts of a name that {@link nameOf} returned. */
export function partsOf(name: string): Name {
  const slash = name.indexOf('/');
  if (slash < 0) return { domainNumber: OWN_DOMAIN, slug: name };
  return { domainNumber: Number(name.slice(0, slash)), slug: name.slice(slash + 1) };
}

/** Returns the name of a domain's record. */
export function domainName(host: string): string {
  return `@${host}`;
}
