import { Skeleton } from '@mantine/core';
import { Suspense, useEffect, useState } from 'react';
import { lazyPage } from '../shell/lazy-page.tsx';
import type { ChartProps } from './time-chart.tsx';

const CODE = lazyPage<ChartProps>(() => import('./time-chart.tsx'));
/** Height of the chart with its legend. Pixels. */
export const CHART_HEIGHT = 244;

/** Counts over time, in the viewer's time zone. Lazily loaded. */
export function Chart(props: ChartProps) {
  const [TimeChart] = useState(() => CODE.component());
  return (
    <Suspense fallback={<Skeleton height={CHART_HEIGHT} role="status" aria-label="Loading" />}>
      <TimeChart {...props} />
    </Suspense>
  );
}

/** Prefetches the chart's code while its data loads. */
export function useChartAhead(): void {
  useEffect(() => {
    // A failure repeats, and shows, where the chart renders.
    CODE.load().catch(() => undefined);
  }, []);
}
