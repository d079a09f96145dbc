import { Anchor, Badge, Table, Text } from '@mantine/core';
import { Link } from 'wouter';
import { messageOf } from '../../api/failures.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatCount, formatInstant } from '../../formats.ts';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { useWindow } from '../../parts/use-window.ts';
import type { BioPage } from './answers.ts';

/** Bio pages with the clicks on their buttons in the window. */
export function BioPagesTable({ pages }: { pages: BioPage[] }) {
  const { workspace } = useSession();
  const hasFigures = workspace.paid;
  const { query } = useWindow();
  const ids = pages.flatMap(linkIdsOf);
  const clicks = useApi<{ links: { link_id: string; clicks: number }[] }>(
    hasFigures && ids.length > 0 ? '/links' : null,
    { ...query, ids: ids.join(',') },
  );
  const byLink = new Map(clicks.data?.links.map((link) => [link.link_id, link.clicks]));
  const clicksOf = (page: BioPage): string => {
    const tracked = linkIdsOf(page);
    if (clicks.isError && !clicks.data) return '–';
    // The answer for the pages that were shown before knows none of these.
    if (tracked.some((id) => !byLink.has(id))) return '…';
    return formatCount(tracked.reduce((sum, id) => sum + (byLink.get(id) ?? 0), 0));
  };

  return (
    <>
      <ScrollTable
        label="Bio pages"
        minWidth={480}
        columns={['Page', 'State', hasFigures && { figure: 'Clicks' }, 'Changed']}
      >
        <Table.Tbody>
          {pages.map((page) => (
            <Table.Tr key={page.id}>
              <Table.Td>
                <Anchor component={Link} href={`/bio-pages/${page.id}`}>
                  {page.title || page.slug}
                </Anchor>
                <Text size="sm" c="dimmed">
                  /{page.slug}
                </Text>
              </Table.Td>
              <Table.Td>
                <PublishedBadge page={page} />
              </Table.Td>
              {hasFigures && (
                <Table.Td ta="end" className="figure">
                  {clicksOf(page)}
                </Table.Td>
              )}
              <Table.Td title={formatInstant(page.updated_at)}>{formatAgo(page.updated_at)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
      {clicks.isError && (
        <Text size="sm" c="dimmed">
          Clicks can’t be shown: {messageOf(clicks.error)}
        </Text>
      )}
    </>
  );
}

const linkIdsOf = ({ links }: BioPage) => links.flatMap(({ tracked_link_id }) => tracked_link_id ?? []);

function PublishedBadge({ page }: { page: BioPage }) {
  return (
    <Badge variant="outline" color={page.is_published ? 'hop' : 'gray'} tt="none">
      {page.is_published ? 'Published' : 'Not published'}
    </Badge>
  );
}
