import { Button, Center, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { callApi } from '../../api/call.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatInstant } from '../../formats.ts';
import { ChannelName } from '../../parts/channel-mark.tsx';
import { deviceOf, placeOf } from '../../parts/click-words.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { ScrollTable, TableSkeleton } from '../../parts/scroll-table.tsx';
import { VisitorLink } from '../../parts/visitor-link.tsx';

type Clicks = ResponseOf<'/clicks'>;

const PAGE = 25;

const TABLE = {
  label: 'Newest clicks',
  minWidth: 820,
  columns: ['Time', 'Visitor', 'Channel', 'Place', 'Device', 'Came from'],
};

/** The newest clicks of a link, with a button for more. */
export function LinkClicks({ linkId }: { linkId: string }) {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['/clicks', { link_id: linkId, limit: PAGE }],
    queryFn: ({ pageParam, signal }) =>
      callApi<Clicks>('/clicks', { query: { link_id: linkId, limit: PAGE, before: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  if (!data) {
    if (error) return <FailureNotice error={error} again={() => void refetch()} />;
    return <TableSkeleton {...TABLE} />;
  }
  const clicks = data.pages.flatMap((page) => page.clicks);
  if (clicks.length === 0) {
    return <EmptyState title="No clicks yet">They appear here when someone follows the link.</EmptyState>;
  }
  return (
    <>
      {error && <FailureNotice error={error} again={() => void refetch()} />}
      <ClicksTable clicks={clicks} />
      {hasNextPage && (
        <Center mt="md">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Load more
          </Button>
        </Center>
      )}
    </>
  );
}

const ClicksTable = ({ clicks }: Pick<Clicks, 'clicks'>) => (
  <ScrollTable {...TABLE}>
    <Table.Tbody>
      {clicks.map((click) => (
        <Table.Tr key={click.id}>
          <Table.Td>{formatInstant(click.ts)}</Table.Td>
          <Table.Td>
            <VisitorLink id={click.visitor_id} />
          </Table.Td>
          <Table.Td>
            <ChannelName channel={click.channel} />
          </Table.Td>
          <Table.Td>{placeOf(click)}</Table.Td>
          <Table.Td>{deviceOf(click)}</Table.Td>
          <Table.Td maw={220} style={{ overflowWrap: 'anywhere' }}>
            <Text size="sm" lineClamp={3} title={click.referer}>
              {click.referer === '' ? 'Unknown' : click.referer}
            </Text>
          </Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </ScrollTable>
);
