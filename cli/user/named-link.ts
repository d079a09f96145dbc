import { readLinkName } from '../../core/links/link-names.ts';
import type { Link } from '../../sdk/typescript/src/generated/types.ts';
import type { Hoplog } from '../../sdk/typescript/src/hoplog.ts';
import { CommandFailed } from '../output.ts';

/**
 * Returns the one link that a user names: by its id, its address with or without a scheme, or its slug.
 *
 * @throws {CommandFailed} when there is none, or a slug is on several domains
 */
export async function namedLink(hoplog: Hoplog, text: string): Promise<Link> {
  const name = readLinkName(text);
  if (name.kind === 'id') return hoplog.links.get(name.id);
  const found: Link[] = [];
  for await (const link of hoplog.links.list({ slug: name.slug, archived: 'include' })) {
    if (name.isMeant(link)) found.push(link);
  }
  const [link, ...others] = found;
  if (!link) throw new CommandFailed(`no link has the id, slug, or address ${JSON.stringify(text)}`);
  if (others.length === 0) return link;
  const addresses = found.map((one) => `${one.short_url} (${one.id})`).join(', ');
  throw new CommandFailed(
    `several links have the slug ${JSON.stringify(text)}; name one by its address or id: ${addresses}`,
  );
}
