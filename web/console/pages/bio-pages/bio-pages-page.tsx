import { Anchor, Badge, Table, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatCount, formatInstant } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { OlderRows, useCursor } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { useWindow } from '../../parts/window.ts';
import { WindowPicker } from '../../parts/window-picker.tsx';
import type { BioPage, BioPageList } from './answers.ts';
import { CreatePage } from './create-page.tsx';

/** So few that the buttons of all of them, 50 a page, fit into one question for their clicks. */
const PAGE_SIZE = 10;

/** Bio pages that were made here, newest first, with the clicks on their buttons. */
export default function BioPagesPage() {
  const { can } = useSession();
  const pages = useApi<BioPageList>('/bio-pages', { limit: PAGE_SIZE, cursor: useCursor() });
  const { query } = useWindow();
  const ids = (pages.data?.bio_pages ?? []).flatMap(({ links }) =>
    links.flatMap(({ tracked_link_id }) => tracked_link_id ?? []),
  );
  const clicks = useApi<{ links: { id: string; clicks: number }[] }>(ids.length > 0 ? '/links' : null, {
    ...query,
    ids: ids.join(','),
  });
  const byLink = new Map(clicks.data?.links.map((link) => [link.id, link.clicks]));
  const clicksOf = ({ links }: BioPage): string => {
    const tracked = links.flatMap(({ tracked_link_id }) => tracked_link_id ?? []);
    if (clicks.isError && !clicks.data) return '–';
    // The answer for the pages that were shown before knows none of these.
    if (tracked.some((id) => !byLink.has(id))) return '…';
    return formatCount(tracked.reduce((sum, id) => sum + (byLink.get(id) ?? 0), 0));
  };
  const create = can('operator') ? <CreatePage /> : null;

  return (
    <>
      <PageHeader title="Bio pages">
        <WindowPicker />
        {create}
      </PageHeader>
      <QueryView
        query={pages}
        empty={{
          when: ({ bio_pages, next_cursor }) => bio_pages.length === 0 && next_cursor === null,
          show: (
            <EmptyState title="No bio pages yet">
              A bio page is one address for all your links, and every button on it is counted. Pages that were
              made over the API are not shown here.
            </EmptyState>
          ),
        }}
      >
        {({ bio_pages, next_cursor }) => (
          <>
            <ScrollTable label="Bio pages" minWidth={560}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Title</Table.Th>
                  <Table.Th>Address</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th ta="end">Clicks</Table.Th>
                  <Table.Th>Changed</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {bio_pages.map((page) => (
                  <Table.Tr key={page.id}>
                    <Table.Td>
                      <Anchor component={Link} href={`/bio-pages/${page.id}`}>
                        {page.title || page.slug}
                      </Anchor>
                    </Table.Td>
                    <Table.Td>
                      <Text size="sm">/{page.slug}</Text>
                    </Table.Td>
                    <Table.Td>
                      <PublishedBadge page={page} />
                    </Table.Td>
                    <Table.Td ta="end" className="figure">
                      {clicksOf(page)}
                    </Table.Td>
                    <Table.Td title={formatInstant(page.updated_at)}>{formatAgo(page.updated_at)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
            {clicks.isError && (
              <Text size="sm" c="dimmed">
                Clicks can’t be shown: {clicks.error instanceof Error ? clicks.error.message : 'no answer'}
              </Text>
            )}
            <OlderRows next={next_cursor} what="bio pages" />
          </>
        )}
      </QueryView>
    </>
  );
}

function PublishedBadge({ page }: { page: BioPage }) {
  return (
    <Badge variant="outline" color={page.is_published ? 'hop' : 'gray'} tt="none">
      {page.is_published ? 'Published' : 'Not published'}
    </Badge>
  );
}
