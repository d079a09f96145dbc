import type { SourceRow } from './source-row.ts';
import { slugOfUrl } from './values.ts';

/**
 * Returns the workspace's domain that a row's full short URL names, such as `https://go.example.com/sale` for the slug
 * `sale`; null when it names none of them.
 *
 * @param domains of the workspace
 */
export function domainOfRow({ values }: SourceRow, slug: unknown, domains: readonly string[]): string | null {
  if (domains.length === 0 || typeof slug !== 'string') return null;
  for (const value of Object.values(values).flat()) {
    if (typeof value !== 'string') continue;
    // Some exports have several short URLs in one cell.
    for (const text of value.split(/[\s,;|]+/)) {
      const host = hostOf(text);
      if (host !== null && domains.includes(host) && slugOfUrl(text) === slug) return host;
    }
  }
  return null;
}

/** Returns the host of a URL, or of `host/path`, in lower case. */
function hostOf(text: string): string | null {
  const [, host] = /^(?:https?:\/\/)?([a-z0-9.-]+)\//i.exec(text) ?? [];
  return host?.toLowerCase() ?? null;
}
