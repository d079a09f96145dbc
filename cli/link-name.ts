import { isUuid } from '../core/ids.ts';
import type { LinkName } from '../sql/links/blocks.ts';

/**
 * Reads what an operator names a link by: its id, its slug, or its address (`go.example.com/sale`, with or without a
 * scheme).
 *
 * @param shortUrl origin of the deployment's own domain
 */
export function readLinkName(text: string, shortUrl: string): LinkName {
  if (isUuid(text)) return { kind: 'id', id: text.toLowerCase() };
  const [, host, slug] = /^(?:https?:\/\/)?([^/]+)\/([^/?#]+)/i.exec(text) ?? [];
  if (host === undefined || slug === undefined) return { kind: 'slug', slug: text };
  const isOwn = host.toLowerCase() === new URL(shortUrl).host;
  return { kind: 'address', domain: isOwn ? null : host.toLowerCase(), slug };
}
