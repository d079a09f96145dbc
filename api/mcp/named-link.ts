import { readLinkName } from '../../core/links/link-names.ts';
import { ApiRefusal, type CallApi } from './calls.ts';

/** The fields of a link's record that tools use. */
export type LinkRecord = Record<string, unknown> & {
  id: string;
  destination_id: string;
  slug: string;
  short_url: string;
  updated_at: string;
};

/** Returns the one link that the text names: its id, address, or slug. @throws {ApiRefusal} */
export async function namedLink(api: CallApi, text: string): Promise<LinkRecord> {
  const name = readLinkName(text);
  if (name.kind === 'id') return api<LinkRecord>('GET', `/links/${name.id}`);
  const found: LinkRecord[] = [];
  let cursor: string | null = null;
  do {
    const query = { view: 'records', slug: name.slug, archived: 'include', limit: 100, cursor };
    const page: { links: LinkRecord[]; next_cursor: string | null } = await api('GET', '/links', { query });
    found.push(...page.links.filter((link) => name.isMeant(link)));
    cursor = page.next_cursor;
  } while (cursor !== null);
  const [link, ...others] = found;
  if (!link)
    throw new ApiRefusal(404, { code: 'not_found', message: 'no link has this id, address, or slug' });
  if (others.length === 0) return link;
  const ids = found.map(({ id }) => id).join(', ');
  throw new ApiRefusal(409, {
    code: 'conflict',
    message: `links on several domains have this slug; name one by its address or id: ${ids}`,
  });
}
