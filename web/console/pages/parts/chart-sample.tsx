import { useMemo } from 'react';
import { Chart } from '../../parts/chart.tsx';
import type { ChartLine } from '../../parts/time-chart.tsx';

const DAY = 86_400;
/** 2026-11-01. */
const FIRST = 1_793_491_200;
const CLICKS = [12, 18, 9, 24, 30, 22, 41, 38, 27, 45, 52, 40, 36, 58];
const BEFORE = [10, 11, 14, 12, 19, 17, 22, 30, 25, 21, 33, 28, 30, 34];

/** An area with the previous period dashed. */
export function ChartSample() {
  const times = useMemo(() => CLICKS.map((_, index) => FIRST + index * DAY), []);
  const lines = useMemo<ChartLine[]>(
    () => [
      { label: 'Clicks', look: 'area', values: CLICKS },
      { label: 'Previous period', look: 'previous', values: BEFORE, shift: -CLICKS.length * DAY },
    ],
    [],
  );
  return <Chart times={times} lines={lines} zone="UTC" summary="Sample: clicks by day" />;
}
