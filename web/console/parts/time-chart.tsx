import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCount, formatShort } from '../formats.ts';

const HEIGHT = 200;
/** Minimum range of the axis, so that a single click stays small. */
const LEAST_TOP = 4;
const HOUR = 3_600;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;
/** Steps of the time axis, in seconds; uPlot uses calendar steps for months and years. */
const STEPS = [
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 3, 5, 7, 10, 15].map((days) => days * DAY),
  ...[1, 2, 3, 6].map((months) => months * MONTH),
  ...[1, 2, 5, 10, 20].map((years) => years * YEAR),
];

/** Lines differ by dash as well as by color. */
const DASHES = [[], [6, 4], [2, 3]];

/** A line of the chart: `values[i]` belongs to `times[i]`. */
export type ChartLine = {
  label: string;
  values: number[];
  /** Formats a value in the legend; a count by default. */
  write?: (value: number) => string;
};

export type ChartProps = {
  /** Seconds since the epoch, ascending. */
  times: number[];
  lines: ChartLine[];
  /** Text alternative; show a table of the numbers near the chart. */
  summary: string;
};

/** Counts over time, in the viewer's time zone. */
export default function TimeChart({ times, lines, summary }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');

  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    // Colors depend on the scheme.
    const chart = new uPlot(
      optionsFor(parent, times, lines, scheme),
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

function optionsFor(
  parent: HTMLElement,
  times: number[],
  lines: ChartLine[],
  scheme: 'light' | 'dark',
): uPlot.Options {
  const style = getComputedStyle(parent);
  const ground = scheme === 'dark' ? '#242424' : '#ffffff';
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color('--mantine-color-dimmed'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    padding: [8, 28, 0, 0],
    cursor: { drag: { x: false, y: false, setScale: false }, y: false },
    scales: { y: { range: (_chart, _low, high) => [0, Math.max(LEAST_TOP, (high ?? 0) * 1.1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        space: 68,
        // No step below the distance of values; the shortest day has 23 hours, the shortest month 28 days.
        incrs: STEPS.filter((step) => step >= apart(times) * 0.9),
        values: (_chart, splits, _axis, _space, step) => splits.map((time) => timeText(time, step)),
      },
      { ...axis, space: 36, size: 48, values: (_chart, splits) => splits.map(formatShort) },
    ],
    series: [
      {
        label: 'Time',
        value: (_chart, time) => (time === null ? '–' : timeText(time, apart(times), true)),
      },
      ...lines.map(({ label, write = formatCount }, index) => ({
        label,
        value: (_chart: uPlot, value: number | null) => (value === null ? '–' : write(value)),
        stroke: color(`--chart-line-${index + 1}`),
        width: 2,
        dash: DASHES[index % DASHES.length] ?? [],
        points: { fill: ground, show: (chart: uPlot) => (chart.data[0]?.length ?? 0) <= 31 },
      })),
    ],
  };
}

/** Seconds between the first two values; a day if there are fewer. */
function apart([first, second]: number[]): number {
  return first === undefined || second === undefined ? DAY : second - first;
}

/**
 * A time in the viewer's locale, at the step's precision.
 *
 * @param time seconds since the epoch
 * @param isAlone whether no neighboring labels show the day or the year
 */
function timeText(time: number, step: number, isAlone = false): string {
  const at = new Date(time * 1_000);
  return new Intl.DateTimeFormat(undefined, timeForm(at, step, isAlone)).format(at);
}

function timeForm(at: Date, step: number, isAlone: boolean): Intl.DateTimeFormatOptions {
  if (step >= YEAR * 0.9) return { year: 'numeric' };
  if (step >= MONTH * 0.9) return { month: 'short', year: 'numeric' };
  if (step >= DAY * 0.9) return isAlone ? { dateStyle: 'medium' } : { day: 'numeric', month: 'short' };
  if (isAlone) return { dateStyle: 'medium', timeStyle: 'short' };
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
  return isMidnight ? { day: 'numeric', month: 'short' } : { timeStyle: 'short' };
}
