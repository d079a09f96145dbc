import { slugInPath } from './slugs.ts';

/** Where a link is: host of its domain, null for the deployment's own, and its slug. */
export type LinkAddress = { domain: string | null; slug: string };

/**
 * Returns the address that visitors open. A domain of a workspace has TLS in front of it.
 *
 * @param origin `SHORT_URL`
 */
export function shortUrlOf(origin: string, { domain, slug }: LinkAddress): string {
  return `${domain === null ? origin : `https://${domain}`}/${slugInPath(slug)}`;
}
