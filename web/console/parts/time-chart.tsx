import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCount, formatShort, viewerTimeZone } from '../formats.ts';
import { type HoverLine, hoverBox, markLines } from './chart-hover.ts';

const HEIGHT = 220;
/** Minimum range of the axis, so that a single click stays small. */
const LEAST_TOP = 4;
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const YEAR = 365 * DAY;
/** Steps of the time axis, in seconds; uPlot uses calendar steps for months and years. */
const STEPS = [
  ...[1, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 3, 5, 7, 10, 15].map((days) => days * DAY),
  ...[1, 2, 3, 6].map((months) => months * MONTH),
  ...[1, 2, 5, 10, 20].map((years) => years * YEAR),
];

/** Lines differ by dash as well as by color. */
const DASHES = [[], [6, 4], [2, 3]];

/** A line of the chart: `values[i]` belongs to `times[i]`; null: no value. */
export type ChartLine = {
  label: string;
  values: (number | null)[];
  /** Formats a value in the hover box; a count by default. */
  write?: (value: number) => string;
  /** `area`: the ground under the line is filled. `previous`: the line before it, in another period. */
  look?: 'line' | 'area' | 'previous';
  /** Seconds from a time of the chart to the line's own, for `previous`. */
  shift?: number;
  /** The time of the last value is not over: it is dashed, so that it does not look like a fall. */
  isOpenEnded?: boolean;
};

/** Texts on the chart at one of its times. */
export type ChartMark = { index: number; texts: string[] };

export type ChartProps = {
  /** Seconds since the epoch, ascending. */
  times: number[];
  lines: ChartLine[];
  /** Text alternative; show a table of the numbers near the chart. */
  summary: string;
  /** Formats the numbers of the axis; short counts by default. */
  writeAxis?: (value: number) => string;
  /** IANA time zone; the viewer's by default. */
  zone?: string;
  /** Lines across the chart whose texts are in the box; list them near the chart. */
  marks?: readonly ChartMark[];
};

const NO_MARKS: readonly ChartMark[] = [];

/** Figures over time, with a box of the values under the pointer. */
export default function TimeChart({
  times,
  lines,
  summary,
  writeAxis,
  zone = viewerTimeZone(),
  marks = NO_MARKS,
}: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');

  // biome-ignore lint/correctness/useExhaustiveDependencies: colors, which it reads, depend on the scheme
  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const chart = new uPlot(
      optionsFor(parent, { times, lines, writeAxis, zone, marks }),
      [times, ...drawnOf(lines).map(({ values }) => values)],
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
  }, [times, lines, scheme, zone, writeAxis, marks]);

  return (
    <>
      {/* Reserves the height: the chart is drawn later and must not move what follows. */}
      <div
        ref={place}
        role="img"
        aria-label={summary}
        className="time-chart"
        data-scheme={scheme}
        style={{ minHeight: HEIGHT }}
      />
      {lines.length > 1 && (
        <ul className="chart-legend" aria-hidden="true">
          {lines.map(({ label, look }, index) => (
            <li key={label} data-look={look} data-line={index + 1}>
              {label}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** A line as it is drawn: an open end is a line of its own. */
type DrawnLine = ChartLine & { nth: number; isEnd: boolean };

function drawnOf(lines: readonly ChartLine[]): DrawnLine[] {
  return lines.flatMap((line, nth) => {
    const { values, isOpenEnded = false } = line;
    if (!isOpenEnded || values.length < 2) return [{ ...line, nth, isEnd: false }];
    const end = values.length - 2;
    return [
      { ...line, nth, isEnd: false, values: values.with(-1, null) },
      { ...line, nth, isEnd: true, values: values.map((value, at) => (at < end ? null : value)) },
    ];
  });
}

type Drawn = Pick<ChartProps, 'times' | 'lines' | 'writeAxis'> & {
  zone: string;
  marks: readonly ChartMark[];
};

function optionsFor(
  parent: HTMLElement,
  { times, lines, writeAxis = formatShort, zone, marks }: Drawn,
): uPlot.Options {
  const style = getComputedStyle(parent);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const ground = color('--card');
  const colorOf = (index: number) =>
    lines[index]?.look === 'previous' ? color('--chart-previous') : color(`--chart-line-${index + 1}`);
  const axis: uPlot.Axis = {
    stroke: color('--mantine-color-dimmed'),
    font: `12px ${style.fontFamily}`,
    grid: { stroke: color('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  const hovered = lines.map(
    ({ label, values, write = formatCount, shift = 0, isOpenEnded = false }, index): HoverLine => ({
      label,
      color: colorOf(index),
      isDashed: lines[index]?.look === 'previous',
      textAt: (n) => {
        const value = values[n];
        return value === null || value === undefined ? '–' : write(value);
      },
      noteAt: (n) => {
        if (shift !== 0) return timeText((times[n] ?? 0) + shift, apart(times), zone, true);
        return isOpenEnded && n === values.length - 1 ? 'so far' : '';
      },
    }),
  );
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    padding: [8, 28, 0, 0],
    tzDate: (time) => uPlot.tzDate(new Date(time * 1_000), zone),
    cursor: { drag: { x: false, y: false, setScale: false }, y: false },
    legend: { show: false },
    plugins: [
      hoverBox(
        (n) => timeText(times[n] ?? 0, apart(times), zone, true),
        hovered,
        (n) => marks.find(({ index }) => index === n)?.texts ?? [],
      ),
      ...(marks.length > 0 ? [markLines(marks, color('--chart-mark'))] : []),
    ],
    scales: { y: { range: (_chart, _low, high) => [0, topOf(lines, high)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        space: 68,
        // No step below the distance of values; the shortest day has 23 hours, the shortest month 28 days.
        incrs: STEPS.filter((step) => step >= apart(times) * 0.9),
        values: (_chart, splits, _axis, _space, step) => splits.map((time) => timeText(time, step, zone)),
      },
      { ...axis, space: 36, size: 56, values: (_chart, splits) => splits.map(writeAxis) },
    ],
    series: [
      {},
      ...drawnOf(lines).map(({ look = 'line', nth, isEnd }) => ({
        stroke: colorOf(nth),
        width: look === 'previous' ? 1.5 : 2,
        ...(look === 'area' && !isEnd && { fill: color('--chart-area') }),
        dash:
          look === 'previous' || isEnd ? [5, 5] : look === 'area' ? [] : (DASHES[nth % DASHES.length] ?? []),
        points: {
          fill: ground,
          show: (chart: uPlot) => look !== 'previous' && (chart.data[0]?.length ?? 0) <= 31,
        },
      })),
    ],
  };
}

/** The top of the axis: at least {@link LEAST_TOP} for counts, and a tenth above the largest value. */
function topOf(lines: readonly ChartLine[], high: number | null | undefined): number {
  const isWhole = lines.every(({ values }) =>
    values.every((value) => value === null || Number.isInteger(value)),
  );
  return Math.max(isWhole ? LEAST_TOP : 0, (high ?? 0) * 1.1) || 1;
}

/** Seconds between the first two values; a day if there are fewer. */
function apart([first, second]: number[]): number {
  return first === undefined || second === undefined ? DAY : second - first;
}

/**
 * A time in the viewer's locale and a time zone, at the step's precision.
 *
 * @param time seconds since the epoch
 * @param isAlone whether no neighboring labels show the day or the year
 */
function timeText(time: number, step: number, zone: string, isAlone = false): string {
  const at = new Date(time * 1_000);
  return new Intl.DateTimeFormat(undefined, { ...timeForm(at, step, zone, isAlone), timeZone: zone }).format(
    at,
  );
}

function timeForm(at: Date, step: number, zone: string, isAlone: boolean): Intl.DateTimeFormatOptions {
  if (step >= YEAR * 0.9) return { year: 'numeric' };
  if (step >= MONTH * 0.9) return { month: 'short', year: 'numeric' };
  if (step >= DAY * 0.9) return isAlone ? { dateStyle: 'medium' } : { day: 'numeric', month: 'short' };
  if (isAlone) return { dateStyle: 'medium', timeStyle: 'short' };
  const local = uPlot.tzDate(at, zone);
  const isMidnight = local.getHours() === 0 && local.getMinutes() === 0;
  return isMidnight ? { day: 'numeric', month: 'short' } : { timeStyle: 'short' };
}
