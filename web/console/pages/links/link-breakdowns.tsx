import { Paper, SimpleGrid, Table, Title } from '@mantine/core';
import type { LinkRecord } from '../../api/links.ts';
import { valueIn, valueName } from '../../dashboard/dimensions.ts';
import { formatCount } from '../../formats.ts';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useLinkBreakdown } from './link-analytics.ts';

const SHOWN = 6;

const TITLES = {
  channel: ['Channels', 'Channel'],
  country: ['Countries', 'Country'],
  device: ['Devices', 'Device'],
  browser: ['Browsers', 'Browser'],
  os: ['Systems', 'System'],
} as const;
type Shown = keyof typeof TITLES;

/** Breakdowns of a link's clicks in the period; channels only for a Smart Link. */
export function LinkBreakdowns({ link }: { link: LinkRecord }) {
  const dimensions: Shown[] = ['country', 'device', 'browser', 'os'];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
      {(link.smart ? (['channel', ...dimensions] as const) : dimensions).map((dimension) => (
        <BreakdownTable key={dimension} linkId={link.id} dimension={dimension} />
      ))}
    </SimpleGrid>
  );
}

function BreakdownTable({ linkId, dimension }: { linkId: string; dimension: Shown }) {
  const breakdown = useLinkBreakdown(linkId, dimension, SHOWN);
  const [title, one] = TITLES[dimension];
  return (
    <Paper withBorder p="md">
      <Title order={3} size="h5" mb="xs">
        {title}
      </Title>
      <QueryView
        query={breakdown}
        lines={3}
        empty={{
          when: ({ rows }) => rows.length === 0,
          show: <Note>No clicks in this period</Note>,
        }}
      >
        {({ rows }) => (
          <Table aria-label={`Clicks by ${title.toLowerCase()}`} verticalSpacing={4} horizontalSpacing={0}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{one}</Table.Th>
                <Table.Th ta="right">Clicks</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => {
                const value = valueIn(row, dimension);
                return (
                  <Table.Tr key={value ?? ''}>
                    <Table.Td>{valueName(dimension, value)}</Table.Td>
                    <Table.Td ta="right">{formatCount(row.metrics.clicks ?? 0)}</Table.Td>
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
        )}
      </QueryView>
    </Paper>
  );
}
