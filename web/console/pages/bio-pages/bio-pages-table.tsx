import { Anchor, Table } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from 'wouter';
import { messageOf } from '../../api/failures.ts';
import { questionOptions } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatCount, formatInstant } from '../../formats.ts';
import { Note } from '../../parts/note.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { useWindow } from '../../parts/use-window.ts';
import { PublishedBadge } from './published-badge.tsx';
import type { BioPage, PageStats } from './responses.ts';

export const bioPagesTable = (hasFigures: boolean) => ({
  label: 'Bio pages',
  minWidth: 480,
  columns: ['Page', 'Status', hasFigures && { figure: 'Clicks' }, 'Changed'] as const,
});

/** Bio pages with their button clicks in the period. */
export function BioPagesTable({ pages }: { pages: BioPage[] }) {
  const { workspace } = useSession();
  const hasFigures = workspace.paid;
  const { query } = useWindow();
  // The page's own statistics include short links that a button no longer has.
  const stats = useQueries({
    queries: pages.map(({ id }) => ({
      ...questionOptions<PageStats>({ path: `/bio-pages/${id}/stats`, query }),
      enabled: hasFigures,
    })),
  });
  const failed = stats.find(({ isError }) => isError);
  const clicksOf = (index: number): string => {
    const asked = stats[index];
    if (asked?.data) return formatCount(asked.data.totals.clicks);
    return asked?.isError ? '–' : '…';
  };

  return (
    <>
      <ScrollTable {...bioPagesTable(hasFigures)}>
        <Table.Tbody>
          {pages.map((page, index) => (
            <Table.Tr key={page.id}>
              <Table.Td>
                <Anchor component={Link} href={`/bio-pages/${page.id}`}>
                  {page.title || page.slug}
                </Anchor>
                <Note>/{page.slug}</Note>
              </Table.Td>
              <Table.Td>
                <PublishedBadge page={page} />
              </Table.Td>
              {hasFigures && <Table.Td ta="end">{clicksOf(index)}</Table.Td>}
              <Table.Td title={formatInstant(page.updated_at)}>{formatAgo(page.updated_at)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </ScrollTable>
      {failed && <Note>Clicks can’t be shown: {messageOf(failed.error)}</Note>}
    </>
  );
}
