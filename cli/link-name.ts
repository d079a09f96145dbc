import { isUuid } from '../core/ids.ts';
import { slugOfUrl } from '../core/link-imports/values.ts';
import type { LinkName } from '../sql/links/blocks.ts';

/**
 * Reads an operator's name of a link: its id, its slug, or its address (`go.example.com/sale`, with or without a
 * scheme).
 *
 * @param shortUrl origin of the deployment's own domain
 */
export function readLinkName(text: string, shortUrl: string): LinkName {
  if (isUuid(text)) return { kind: 'id', id: text.toLowerCase() };
  const [, withScheme, host = withScheme] =
    /^(?:https?:\/\/([^/]+)|([^/]*[.:][^/]*))\/[^/?#]/i.exec(text) ?? [];
  if (host === undefined) return { kind: 'slug', slug: text.normalize('NFC') };
  const slug = slugOfUrl(text).normalize('NFC');
  const isOwn = host.toLowerCase() === new URL(shortUrl).host;
  return { kind: 'address', domain: isOwn ? null : host.toLowerCase(), slug };
}
