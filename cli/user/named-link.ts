import { isUuid } from '../../core/ids.ts';
import { slugOfUrl } from '../../core/link-imports/values.ts';
import type { Link } from '../../sdk/typescript/src/generated/types.ts';
import type { Hoplog } from '../../sdk/typescript/src/hoplog.ts';
import { CommandFailed } from '../output.ts';

/**
 * Returns the one link that a user names: by its id, its address with or without a scheme, or its slug.
 *
 * @throws {CommandFailed} when there is none, or a slug is on several domains
 */
export async function namedLink(hoplog: Hoplog, text: string): Promise<Link> {
  if (isUuid(text)) return hoplog.links.get(text);
  const isAddress = /[^/]\/[^/]/.test(text);
  const slug = isAddress ? slugOfUrl(text) : text;
  const found: Link[] = [];
  for await (const link of hoplog.links.list({ slug, archived: 'include' })) {
    if (link.slug.toLowerCase() !== slug.toLowerCase()) continue;
    if (!isAddress || withoutScheme(link.short_url) === withoutScheme(text)) found.push(link);
  }
  const [link, ...others] = found;
  if (!link) throw new CommandFailed(`no link has the id, slug, or address ${JSON.stringify(text)}`);
  if (others.length === 0) return link;
  const addresses = found.map((one) => `${one.short_url} (${one.id})`).join(', ');
  throw new CommandFailed(
    `several links have the slug ${JSON.stringify(text)}; name one by its address or id: ${addresses}`,
  );
}

const withoutScheme = (address: string) =>
  address
    .replace(/^https?:\/\//i, '')
    .replace(/[?#].*$/, '')
    .toLowerCase();
