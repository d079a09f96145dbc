import { Paper, SimpleGrid, Stack } from '@mantine/core';
import { useMemo } from 'react';
import { useApi } from '../../api/queries.ts';
import { formatCount, formatMoney, plural, viewerTimeZone } from '../../formats.ts';
import { Chart, useChartAhead } from '../../parts/chart.tsx';
import { Figure } from '../../parts/figure.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useWindow } from '../../parts/use-window.ts';
import type { Stats } from './stats-types.ts';

const BUCKETS = { hour: 'hour by hour', day: 'day by day', month: 'month by month' };

/** A link's totals, compared with the previous period, and over time. */
export function LinkStats({ linkId }: { linkId: string }) {
  const { query } = useWindow();
  useChartAhead();
  const stats = useApi<Stats>('/stats', { ...query, link_id: linkId, timezone: viewerTimeZone() });
  return (
    <QueryView query={stats} lines={6}>
      {({ totals, previous, currency, bucket, series }) => {
        const change = (name: keyof typeof totals) => ({ now: totals[name], before: previous.totals[name] });
        return (
          <Stack gap="md">
            <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
              <Figure label="Clicks" value={formatCount(totals.clicks)} change={change('clicks')} />
              <Figure label="Visitors" value={formatCount(totals.visitors)} change={change('visitors')} />
              <Figure
                label="Conversions"
                value={formatCount(totals.conversions)}
                change={change('conversions')}
              />
              <Figure
                label="Revenue"
                value={formatMoney(totals.revenue, currency)}
                change={change('revenue')}
              />
            </SimpleGrid>
            <Paper withBorder p="md">
              <Course
                series={series}
                summary={`Clicks and visitors of the link ${BUCKETS[bucket]}: ${plural(totals.clicks, 'click', 'clicks')} in all.`}
              />
            </Paper>
          </Stack>
        );
      }}
    </QueryView>
  );
}

function Course({ series, summary }: { series: Stats['series']; summary: string }) {
  const { times, lines } = useMemo(
    () => ({
      times: series.map(({ start }) => Date.parse(start) / 1_000),
      lines: [
        { label: 'Clicks', values: series.map(({ clicks }) => clicks) },
        { label: 'Visitors', values: series.map(({ visitors }) => visitors) },
      ],
    }),
    [series],
  );
  return <Chart times={times} lines={lines} summary={summary} />;
}
