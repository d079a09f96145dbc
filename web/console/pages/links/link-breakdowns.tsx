import { Paper, SimpleGrid, Table, Text, Title } from '@mantine/core';
import type { LinkRecord } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { channelName, countryName, formatCount } from '../../formats.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { useWindow } from '../../parts/use-window.ts';
import type { Breakdown } from './stats-types.ts';

const SHOWN = 6;

type Dimension = 'channel' | 'country' | 'device' | 'browser' | 'os';

const TITLES: Record<Dimension, string> = {
  channel: 'Channels',
  country: 'Countries',
  device: 'Devices',
  browser: 'Browsers',
  os: 'Systems',
};

const known = (value: string) => (value === '' ? 'Unknown' : value);

const NAME_OF: Record<Dimension, (value: string) => string> = {
  channel: channelName,
  country: countryName,
  device: (value) => known(`${value.charAt(0).toUpperCase()}${value.slice(1)}`),
  browser: known,
  os: known,
};

/** Breakdowns of a link's clicks in the period; channels only for a Smart Link. */
export function LinkBreakdowns({ link }: { link: LinkRecord }) {
  const dimensions: Dimension[] = ['country', 'device', 'browser', 'os'];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
      {(link.smart ? (['channel', ...dimensions] as const) : dimensions).map((dimension) => (
        <BreakdownTable key={dimension} linkId={link.id} dimension={dimension} />
      ))}
    </SimpleGrid>
  );
}

function BreakdownTable({ linkId, dimension }: { linkId: string; dimension: Dimension }) {
  const { query } = useWindow();
  const breakdown = useApi<Breakdown>('/stats/breakdown', {
    ...query,
    link_id: linkId,
    by: dimension,
    limit: SHOWN,
  });
  const title = TITLES[dimension];
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
          show: (
            <Text size="sm" c="dimmed">
              No clicks in this period
            </Text>
          ),
        }}
      >
        {({ rows }) => (
          <Table aria-label={`Clicks by ${title.toLowerCase()}`} verticalSpacing={4} horizontalSpacing={0}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{title}</Table.Th>
                <Table.Th ta="right">Clicks</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ value, clicks }) => (
                <Table.Tr key={value}>
                  <Table.Td>{NAME_OF[dimension](value)}</Table.Td>
                  <Table.Td ta="right" className="figure">
                    {formatCount(clicks)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </QueryView>
    </Paper>
  );
}
