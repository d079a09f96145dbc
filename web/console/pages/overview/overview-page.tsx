import { Stack, Text } from '@mantine/core';
import { useDeferredValue } from 'react';
import { useSearchParams } from 'wouter';
import { type Question, useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { formatInstant, viewerTimeZone } from '../../formats.ts';
import { useChartAhead } from '../../parts/chart.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { windowOf, windowQuery } from '../../parts/window.ts';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { Breakdowns } from './breakdowns.tsx';
import { NoClicks } from './no-clicks.tsx';
import type { Stats } from './responses.ts';
import { StatsChart } from './stats-chart.tsx';
import { Totals } from './totals.tsx';

/** Refresh interval. Milliseconds. */
const EVERY = 60_000;

/** The page's main read, by its URL; sent before the page renders. */
export const overviewQuestion = (search: URLSearchParams): Question => ({
  path: '/stats',
  query: { ...windowQuery(windowOf(search)), timezone: viewerTimeZone() },
});

/** The workspace's totals, chart and breakdowns in a period. */
export default function OverviewPage() {
  const [search] = useSearchParams();
  useChartAhead();
  const { path, query } = overviewQuestion(search);
  const stats = useApi<Stats>(path, query, { every: EVERY });
  const me = useApi<ResponseOf<'/me'>>('/me');
  const withRevenue = me.data?.plan.revenue_visible !== false;
  return (
    <>
      <PageHeader title="Overview">
        <WindowPicker />
      </PageHeader>
      <QueryView query={stats} lines={10}>
        {(data) => (
          <Stack gap="md">
            <Totals stats={data} withRevenue={withRevenue} />
            <Details stats={data} withRevenue={withRevenue} />
          </Stack>
        )}
      </QueryView>
      <GeoCredit />
    </>
  );
}

/** Chart and breakdowns, rendered after the totals. */
function Details({ stats, withRevenue }: { stats: Stats; withRevenue: boolean }) {
  const shown = useDeferredValue<Stats | null>(stats, null);
  if (shown === null) return null;
  if (!hasActivity(shown)) return <NoClicks />;
  return (
    <>
      <StatsChart stats={shown} withRevenue={withRevenue} />
      <Breakdowns stats={shown} withRevenue={withRevenue} every={EVERY} />
      <Text size="xs" c="dimmed">
        From {formatInstant(shown.window.from)} to {formatInstant(shown.window.to)}, {viewerTimeZone()} time.
        Bots are not counted.
      </Text>
    </>
  );
}

const hasActivity = ({ totals }: Stats) => totals.clicks > 0 || totals.conversions > 0;
