import { Paper, SimpleGrid, Stack } from '@mantine/core';
import { useMemo } from 'react';
import type { TimeUnit } from '../../../../core/analytics/dimensions.ts';
import { useSession } from '../../api/session.ts';
import { chartBuckets, chartZone } from '../../dashboard/buckets.ts';
import { type Result, unitIn } from '../../dashboard/source.ts';
import { formatCount, formatMoney, plural } from '../../formats.ts';
import { CHART_HEIGHT, Chart, useChartAhead } from '../../parts/chart.tsx';
import { Figure } from '../../parts/figure.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { BlocksSkeleton, FiguresSkeleton } from '../../parts/skeletons.tsx';
import { useLinkTotals } from './link-analytics.ts';
import { useChartZone } from './use-chart-zone.ts';

type Metric = 'clicks' | 'visitors' | 'leads' | 'conversions' | 'revenue';

const LABELS = ['Clicks', 'Visitors', 'Leads', 'Conversions', 'Revenue'];
const COLUMNS = { base: 2, xs: 3, md: 5 };

/** A link's totals, compared with the previous period, and over time. */
export function LinkStats({ linkId }: { linkId: string }) {
  const { workspace } = useSession();
  useChartAhead();
  const result = useLinkTotals(linkId);
  return (
    <QueryView
      query={result}
      skeleton={
        <Stack gap="md">
          <FiguresSkeleton labels={LABELS} cols={COLUMNS} />
          <BlocksSkeleton heights={[CHART_HEIGHT + 34]} />
        </Stack>
      }
    >
      {(data) => {
        const { totals, compared_totals: before } = data;
        const figure = (label: string, metric: Metric, value: string) => (
          <Figure
            label={label}
            value={value}
            change={{ now: totals[metric] ?? 0, before: before?.[metric] ?? 0 }}
          />
        );
        const count = (label: string, metric: Metric) =>
          figure(label, metric, formatCount(totals[metric] ?? 0));
        return (
          <Stack gap="md">
            <SimpleGrid cols={COLUMNS}>
              {count('Clicks', 'clicks')}
              {count('Visitors', 'visitors')}
              {count('Leads', 'leads')}
              {count('Conversions', 'conversions')}
              {figure('Revenue', 'revenue', formatMoney(totals.revenue ?? 0, workspace.currency))}
            </SimpleGrid>
            <Paper withBorder p="md">
              <Course result={data} />
            </Paper>
          </Stack>
        );
      }}
    </QueryView>
  );
}

function Course({ result }: { result: Result }) {
  const zone = useChartZone();
  const unit = unitIn(result) ?? 'day';
  const { times, lines } = useMemo(() => chartOf(result, unit, zone), [result, unit, zone]);
  const clicks = plural(result.totals.clicks ?? 0, 'click', 'clicks');
  return (
    <Chart
      times={times}
      lines={lines}
      zone={chartZone(unit, zone)}
      summary={`Clicks and visitors of the link by ${unit}: ${clicks} in all.`}
    />
  );
}

function chartOf(result: Result, unit: TimeUnit, zone: string) {
  const { rows, times, isOpenEnded } = chartBuckets(result, unit, zone);
  const line = (label: string, metric: 'clicks' | 'visitors') => ({
    label,
    values: rows.map(({ metrics }) => metrics[metric] ?? 0),
    isOpenEnded,
  });
  return { times, lines: [line('Clicks', 'clicks'), line('Visitors', 'visitors')] };
}
