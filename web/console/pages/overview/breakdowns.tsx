import { Anchor, Paper, SimpleGrid, Table, Tabs, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { channelName, countryName, formatCount, formatMoney, formatPercent } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LongTextCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import { useWindow } from '../../parts/use-window.ts';
import type { Breakdown, Dimension, ReportWindow, Stats } from './responses.ts';

/** Two cards with tabs; each card's tab is in the URL. */
const CARDS: { parameter: string; label: string; tabs: [Dimension, string][] }[] = [
  {
    parameter: 'source',
    label: 'Where clicks come from',
    tabs: [
      ['channel', 'Channels'],
      ['link', 'Links'],
    ],
  },
  {
    parameter: 'audience',
    label: 'Who clicks',
    tabs: [
      ['country', 'Countries'],
      ['device', 'Devices'],
      ['browser', 'Browsers'],
      ['os', 'Systems'],
    ],
  },
];

type Props = { stats: Stats; withRevenue: boolean; every: number };

/** Breakdowns of the period's clicks. Only visible tabs are requested. */
export function Breakdowns(props: Props) {
  const [search, change] = useUrlParameters();
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      {CARDS.map(({ parameter, label, tabs: [first, ...others] }) => {
        const tabs = first ? [first, ...others] : others;
        const shown = tabs.find(([dimension]) => dimension === search.get(parameter)) ?? first;
        return (
          <Paper key={parameter} withBorder p="md" component="section" aria-label={label} miw={0}>
            <Tabs
              value={shown?.[0] ?? null}
              keepMounted={false}
              onChange={(dimension) =>
                change({ [parameter]: dimension === first?.[0] ? null : dimension }, { replace: true })
              }
            >
              <Tabs.List aria-label={label}>
                {tabs.map(([dimension, title]) => (
                  <Tabs.Tab key={dimension} value={dimension}>
                    {title}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {tabs.map(([dimension, title]) => (
                <Tabs.Panel key={dimension} value={dimension} pt="sm">
                  <BreakdownTable {...props} dimension={dimension} title={title} />
                </Tabs.Panel>
              ))}
            </Tabs>
          </Paper>
        );
      })}
    </SimpleGrid>
  );
}

const ONE: Record<Dimension, string> = {
  channel: 'Channel',
  link: 'Link',
  country: 'Country',
  device: 'Device',
  browser: 'Browser',
  os: 'System',
};

function BreakdownTable({
  stats,
  withRevenue,
  every,
  dimension,
  title,
}: Props & { dimension: Dimension; title: string }) {
  const { query } = useWindow();
  const breakdown = useApi<Breakdown>('/stats/breakdown', { ...query, by: dimension, limit: 10 }, { every });
  const hasOrders = dimension === 'channel' || dimension === 'link';
  const isMoney = hasOrders && withRevenue;
  return (
    <QueryView
      query={breakdown}
      empty={{ when: ({ rows }) => rows.length === 0, show: <EmptyState title="No data in this period" /> }}
    >
      {({ window, rows }) => (
        <ScrollTable
          label={title}
          minWidth={isMoney ? 440 : 280}
          horizontalSpacing="xs"
          columns={[
            ONE[dimension],
            { figure: 'Clicks' },
            !hasOrders && { figure: 'Share' },
            { figure: 'Visitors' },
            hasOrders && { figure: 'Conversions' },
            isMoney && { figure: 'Revenue' },
          ]}
        >
          <Table.Tbody className="figure">
            {rows.map((row) => (
              <Table.Tr key={row.value}>
                <LongTextCell miw={100}>{nameOf(dimension, row)}</LongTextCell>
                <Table.Td ta="right">{formatCount(row.clicks)}</Table.Td>
                {!hasOrders && (
                  <Table.Td ta="right">
                    {isSameWindow(window, stats.window) ? formatShare(row.clicks, stats.totals.clicks) : '…'}
                  </Table.Td>
                )}
                <Table.Td ta="right">{formatCount(row.visitors)}</Table.Td>
                {hasOrders && <Table.Td ta="right">{formatCount(row.conversions ?? 0)}</Table.Td>}
                {isMoney && <Table.Td ta="right">{formatMoney(row.revenue ?? 0, stats.currency)}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </ScrollTable>
      )}
    </QueryView>
  );
}

/** Maximum distance between two responses that are refreshed every minute. Milliseconds. */
const REFRESHED_WITHIN = 600_000;

/** Whether two responses cover the same chosen range; a range that ends now moves with each refresh. */
function isSameWindow(one: ReportWindow, other: ReportWindow): boolean {
  const apart = (name: keyof ReportWindow) => Math.abs(Date.parse(one[name]) - Date.parse(other[name]));
  return apart('from') < REFRESHED_WITHIN && apart('to') < REFRESHED_WITHIN;
}

/** At most 1: clicks between two responses can make a part larger than the whole. */
const formatShare = (clicks: number, ofAll: number) =>
  formatPercent(Math.min(1, clicks / Math.max(1, ofAll)));

function nameOf(dimension: Dimension, { value, link }: Breakdown['rows'][number]): ReactNode {
  if (link) {
    return (
      <>
        <Anchor component={Link} href={`/links/${link.id}`} size="sm" fw={600}>
          {link.slug}
        </Anchor>
        {/* As wide as its column, which it does not widen: the figures would leave the card. */}
        <Text size="xs" c="dimmed" truncate dir="auto" w={0} miw="100%" title={link.name}>
          {link.name}
        </Text>
      </>
    );
  }
  if (dimension === 'channel') {
    return (
      <Anchor component={Link} href={`/links?channel=${encodeURIComponent(value)}`} size="sm">
        {channelName(value)}
      </Anchor>
    );
  }
  if (dimension === 'country') return countryName(value);
  if (value === '') return 'Unknown';
  return dimension === 'device' ? `${value.charAt(0).toUpperCase()}${value.slice(1)}` : value;
}
