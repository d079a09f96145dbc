import { Skeleton } from '@mantine/core';
import { Suspense, useEffect, useState } from 'react';
import { lazyPage } from '../shell/lazy-page.tsx';
import type { ChartProps } from './time-chart.tsx';

const CODE = lazyPage<ChartProps>(() => import('./time-chart.tsx'));
/** Of the chart with its legend. Pixels. */
const HEIGHT = 232;

/** Counts over time, in the viewer's time zone. Its code is loaded beside the page that shows it. */
export function Chart(props: ChartProps) {
  const [TimeChart] = useState(() => CODE.component());
  return (
    <Suspense fallback={<Skeleton height={HEIGHT} role="status" aria-label="Loading" />}>
      <TimeChart {...props} />
    </Suspense>
  );
}

/** Fetches the code of the chart that will be shown, while its figures are still awaited. */
export function useChartAhead(): void {
  useEffect(() => {
    // What fails here fails again where the chart is shown, and is told there.
    CODE.load().catch(() => undefined);
  }, []);
}
