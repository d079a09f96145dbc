import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatShort } from '../formats.ts';

const HEIGHT = 220;
/** Least range of the axis: a single click is no mountain. */
const LEAST_TOP = 4;
/** Told apart by dash as well as by colour. */
const DASHES = [[], [6, 4], [2, 3]];

/** A line of the chart: `values[i]` belongs to `times[i]`. */
export type ChartLine = { label: string; values: number[] };

type Props = {
  /** Instants, seconds since the epoch, rising. */
  times: number[];
  lines: ChartLine[];
  /** The same in words, for who does not see the chart; a table with the numbers belongs near it. */
  summary: string;
};

/** Counts over time, in the viewer's time zone. */
export function TimeChart({ times, lines, summary }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');

  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    // The colours are the scheme's.
    const chart = new uPlot(
      optionsFor(parent, lines, scheme),
      [times, ...lines.map(({ values }) => values)],
      parent,
    );
    const resize = new ResizeObserver(() => {
      const width = parent.clientWidth;
      if (width > 0 && width !== chart.width) chart.setSize({ width, height: HEIGHT });
    });
    resize.observe(parent);
    return () => {
      resize.disconnect();
      chart.destroy();
    };
  }, [times, lines, scheme]);

  return <div ref={place} role="img" aria-label={summary} className="time-chart" data-scheme={scheme} />;
}

function optionsFor(parent: HTMLElement, lines: ChartLine[], scheme: 'light' | 'dark'): uPlot.Options {
  const style = getComputedStyle(parent);
  const ground = scheme === 'dark' ? '#242424' : '#ffffff';
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour('--mantine-color-dimmed'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    padding: [8, 12, 0, 0],
    cursor: { drag: { x: false, y: false, setScale: false }, y: false },
    scales: { y: { range: (_chart, _low, high) => [0, Math.max(LEAST_TOP, (high ?? 0) * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, space: 64 },
      { ...axis, space: 36, size: 48, values: (_chart, splits) => splits.map(formatShort) },
    ],
    series: [
      {},
      ...lines.map(({ label }, index) => ({
        label,
        stroke: colour(`--chart-line-${index + 1}`),
        width: 2,
        dash: DASHES[index % DASHES.length] ?? [],
        points: { fill: ground, show: (chart: uPlot) => (chart.data[0]?.length ?? 0) <= 31 },
      })),
    ],
  };
}
