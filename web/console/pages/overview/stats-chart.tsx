import { Button, Group, Paper, SegmentedControl, Table, Title } from '@mantine/core';
import { useMemo } from 'react';
import { formatCount, formatMoney, plural } from '../../formats.ts';
import { Chart } from '../../parts/chart.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import type { Figures, Stats } from './responses.ts';

/** Chart metrics by URL name: measures that share a scale. */
const CHARTS = {
  clicks: { label: 'Clicks', lines: ['clicks', 'visitors'] },
  conversions: { label: 'Conversions', lines: ['conversions'] },
  revenue: { label: 'Revenue', lines: ['revenue'] },
} as const satisfies Record<string, { label: string; lines: readonly (keyof Figures)[] }>;
type ChartName = keyof typeof CHARTS;

const LABELS: Record<keyof Figures, string> = {
  clicks: 'Clicks',
  visitors: 'Visitors',
  conversions: 'Conversions',
  revenue: 'Revenue',
};

const BUCKETS: Record<Stats['bucket'], { one: string; format: Intl.DateTimeFormatOptions }> = {
  hour: { one: 'hour', format: { dateStyle: 'medium', timeStyle: 'short' } },
  day: { one: 'day', format: { dateStyle: 'medium' } },
  month: { one: 'month', format: { month: 'long', year: 'numeric' } },
};

/** Totals over time as a chart, and optionally as a table. Both choices are in the URL. */
export function StatsChart({ stats, withRevenue }: { stats: Stats; withRevenue: boolean }) {
  const [search, change] = useUrlParameters();
  const names = (Object.keys(CHARTS) as ChartName[]).filter((name) => withRevenue || name !== 'revenue');
  const chart = names.find((name) => name === search.get('chart')) ?? 'clicks';
  const isTable = search.get('numbers') === 'shown';
  const { times, lines } = useMemo(
    () => ({
      times: stats.series.map(({ start }) => Date.parse(start) / 1_000),
      lines: CHARTS[chart].lines.map((key) => ({
        label: LABELS[key],
        values: stats.series.map((bucket) => bucket[key]),
        write: writerOf(key, stats.currency),
      })),
    }),
    [stats, chart],
  );

  return (
    <Paper withBorder p="md" component="section" aria-label="Over time">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2} size="h4">
          Over time
        </Title>
        <SegmentedControl
          aria-label="Chart metric"
          size="xs"
          data={names.map((name) => ({ value: name, label: CHARTS[name].label }))}
          value={chart}
          onChange={(name) => change({ chart: name === 'clicks' ? null : name }, { replace: true })}
        />
      </Group>
      <Chart times={times} lines={lines} summary={summaryOf(stats, chart)} />
      <Button
        variant="subtle"
        size="xs"
        mt="xs"
        aria-expanded={isTable}
        onClick={() => change({ numbers: isTable ? null : 'shown' }, { replace: true })}
      >
        {isTable ? 'Hide table' : 'Show as table'}
      </Button>
      {isTable && <Numbers stats={stats} withRevenue={withRevenue} />}
    </Paper>
  );
}

function Numbers({
  stats: { series, bucket, currency },
  withRevenue,
}: {
  stats: Stats;
  withRevenue: boolean;
}) {
  const format = new Intl.DateTimeFormat(undefined, BUCKETS[bucket].format);
  return (
    <ScrollTable
      label="Figures over time"
      minWidth={480}
      mt="xs"
      columns={[
        bucket === 'hour' ? 'Hour' : bucket === 'day' ? 'Day' : 'Month',
        { figure: 'Clicks' },
        { figure: 'Visitors' },
        { figure: 'Conversions' },
        withRevenue && { figure: 'Revenue' },
      ]}
    >
      <Table.Tbody className="figure">
        {series.toReversed().map(({ start, clicks, visitors, conversions, revenue }) => (
          <Table.Tr key={start}>
            <Table.Td>{format.format(new Date(start))}</Table.Td>
            <Table.Td ta="right">{formatCount(clicks)}</Table.Td>
            <Table.Td ta="right">{formatCount(visitors)}</Table.Td>
            <Table.Td ta="right">{formatCount(conversions)}</Table.Td>
            {withRevenue && <Table.Td ta="right">{formatMoney(revenue, currency)}</Table.Td>}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  );
}

const writerOf = (key: keyof Figures, currency: string) => (figure: number) =>
  key === 'revenue' ? formatMoney(figure, currency) : formatCount(figure);

/** Text alternative of the chart: its sum and maximum. */
function summaryOf({ series, bucket, totals, currency }: Stats, chart: ChartName): string {
  const key = CHARTS[chart].lines[0];
  const written = writerOf(key, currency);
  const { one, format } = BUCKETS[bucket];
  const parts = [
    `${CHARTS[chart].label} by ${one}: ${written(totals[key])} in ${plural(series.length, one, `${one}s`)}`,
  ];
  const [first, ...others] = series;
  if (first) {
    const top = others.reduce((most, bucket) => (bucket[key] > most[key] ? bucket : most), first);
    const when = new Intl.DateTimeFormat(undefined, format).format(new Date(top.start));
    if (top[key] > 0) parts.push(`most on ${when} with ${written(top[key])}`);
  }
  return `${parts.join(', ')}.`;
}
