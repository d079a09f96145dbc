import { Anchor } from '@mantine/core';
import { Link } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';
import { Note } from '../../parts/note.tsx';

/**
 * The slug of a link, which leads to its page.
 *
 * @param host of links without a domain, where lists name the domains; else null
 */
export const LinkAddress = ({ link, host }: { link: LinkRecord; host: string | null }) => (
  <>
    {host !== null && <Note span>{link.domain ?? host}/</Note>}
    <Anchor component={Link} href={`/links/${link.id}`} fw={600} size="sm" className="link-slug">
      {link.slug}
    </Anchor>
  </>
);
