import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';

/**
 * The slug of a link, which leads to its page.
 *
 * @param host of links without a domain, where lists name the domains; else null
 */
export const LinkAddress = ({ link, host }: { link: LinkRecord; host: string | null }) => (
  <>
    {host !== null && (
      <Text span size="sm" c="dimmed">
        {link.domain ?? host}/
      </Text>
    )}
    <Anchor component={Link} href={`/links/${link.id}`} fw={600} size="sm" className="link-slug">
      {link.slug}
    </Anchor>
  </>
);
