import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { formatCount, formatDay } from './formats.ts';
import { MEASURES, type MeasureName } from './measures.ts';
import type { Day } from './stats.ts';
import { words } from './words.ts';

const HEIGHT = 200;
/** Minimum range of the count axis, so that a single click stays small. */
const LEAST_TOP = 4;
/** Up to this many days, every non-zero day gets a dot. */
const DOTTED_DAYS = 31;
const DASHES: Record<MeasureName, number[]> = { clicks: [], signups: [6, 4], purchases: [2, 3] };

type Props = {
  series: Day[];
  hidden: ReadonlySet<MeasureName>;
  /** The day under the pointer, as an index; null: none. */
  onPoint: (index: number | null) => void;
};

/** The chart. Lines differ by dash as well as by color; the caller provides the text alternative. */
export function ActivityChart({ series, hidden, onPoint }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);

  useEffect(() => {
    const parent = place.current;
    if (!parent) return;
    const own = new uPlot(optionsFor(parent, series, onPoint), dataOf(series), parent);
    chart.current = own;
    const resize = new ResizeObserver(() => {
      const width = parent.clientWidth;
      if (width > 0 && width !== own.width) own.setSize({ width, height: HEIGHT });
    });
    resize.observe(parent);
    return () => {
      resize.disconnect();
      own.destroy();
      chart.current = null;
    };
  }, [series, onPoint]);

  useEffect(() => {
    MEASURES.forEach(({ name }, index) => {
      chart.current?.setSeries(index + 1, { show: !hidden.has(name) });
    });
  }, [hidden, series]);

  return <div ref={place} class="plot" dir="ltr" />;
}

function dataOf(series: Day[]): uPlot.AlignedData {
  return [
    series.map((entry) => Date.parse(entry.day) / 1000),
    ...MEASURES.map(({ name }) => series.map((entry) => entry[name])),
  ];
}

function optionsFor(parent: HTMLElement, series: Day[], onPoint: Props['onPoint']): uPlot.Options {
  const style = getComputedStyle(parent);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `12px ${style.fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: color('muted'),
    font,
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: parent.clientWidth,
    height: HEIGHT,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    // Days are UTC days in every time zone.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { drag: { x: false, y: false, setScale: false }, y: false },
    scales: { y: { range: (_chart, _low, high) => [0, Math.max(LEAST_TOP, (high ?? 0) * 1.1)] } },
    axes: [
      { ...axis, space: 64, size: 28, grid: { show: false }, values: (_chart, splits) => dayLabels(splits) },
      {
        ...axis,
        space: 36,
        size: 44,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 1_000_000],
        values: (_chart, splits) => splits.map(formatCount),
      },
    ],
    series: [
      {},
      ...MEASURES.map(({ name }) => ({
        label: words(name),
        stroke: color(name),
        width: 2,
        dash: DASHES[name],
        points: {
          show: series.length <= DOTTED_DAYS,
          size: 5,
          filter: () => series.flatMap((entry, index) => (entry[name] > 0 ? [index] : [])),
        },
        ...(name === 'clicks' && { fill: color('clicks-fill') }),
      })),
    ],
    hooks: { setCursor: [(own) => onPoint(own.cursor.idx ?? null)] },
  };
}

/** Labels each day once, also when several ticks of the axis are in one day. */
function dayLabels(splits: number[]): string[] {
  const labels = splits.map((seconds) => formatDay(seconds * 1000));
  return labels.map((label, index) => (label === labels[index - 1] ? '' : label));
}
