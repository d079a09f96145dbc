import { useState } from 'react';
import type { Metric } from '../../../core/analytics/dimensions.ts';
import { countryName } from '../formats.ts';
import { flagOf, formatMetric, METRIC_NAMES, valueIn } from './dimensions.ts';
import { type Result, type Row, useSource } from './source.ts';
import { useView } from './use-view.ts';
import { isChosen } from './view.ts';
import { WORLD_SHAPES, WORLD_SIZE } from './world-shapes.ts';

/** Opacity of the value 0, as `.world-scale-bar` begins. Countries without clicks have the color of land. */
const LEAST = 0.18;
const [WIDTH, HEIGHT] = WORLD_SIZE;

/** The map itself. A press on a country with clicks filters by it. */
export default function WorldShapesMap({ result }: { result: Result }) {
  const { view, toggle } = useView();
  const { currency } = useSource();
  const [pointed, setPointed] = useState<string | null>(null);
  const { metric } = view;
  const rows = new Map(result.rows.flatMap((row) => codeOf(row)));
  const metricOf = (code: string): number | null => {
    const row = rows.get(code);
    return row ? (row.metrics[metric] ?? null) : RATES.has(metric) ? null : 0;
  };
  const most = Math.max(0, ...[...rows.keys()].map((code) => metricOf(code) ?? 0));
  const textOf = (code: string) => `${countryName(code)}: ${formatMetric(metric, metricOf(code), currency)}`;
  const top = [...rows.keys()]
    .filter((code) => (metricOf(code) ?? 0) > 0)
    .slice(0, 3)
    .map(textOf);
  return (
    <div className="world">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Map of ${METRIC_NAMES[metric].toLowerCase()} by country. ${top.join(', ')}`}
        onPointerLeave={() => setPointed(null)}
      >
        {Object.entries(WORLD_SHAPES).map(([code, path]) => {
          const value = rows.has(code) ? metricOf(code) : null;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list of countries has the same by keyboard
            <path
              key={code}
              d={path}
              className="world-country"
              data-country={code}
              data-chosen={isChosen(view.filters, 'country', code) || undefined}
              data-any={rows.has(code) || undefined}
              data-none={rows.has(code) && value === null ? true : undefined}
              style={value === null ? undefined : { fillOpacity: opacityAt(shareOf(value, most)) }}
              onPointerEnter={() => setPointed(code)}
              onClick={() => rows.has(code) && toggle('country', code)}
            />
          );
        })}
      </svg>
      <p className="world-text" aria-hidden="true">
        {pointed
          ? `${flagOf(pointed)} ${textOf(pointed)}`
          : top.length > 0
            ? top.join(' · ')
            : rows.size > 0
              ? `No ${METRIC_NAMES[metric].toLowerCase()} from a known country in this period`
              : 'No data in this period'}
      </p>
      {most > 0 && <Scale most={most} metric={metric} currency={currency} />}
    </div>
  );
}

/** Metrics that are null where there is nothing to divide by. */
const RATES: ReadonlySet<Metric> = new Set(['conversion_rate', 'revenue_per_click']);
/** Metrics without fractions. */
const COUNTS: ReadonlySet<Metric> = new Set(['clicks', 'visitors']);

/** Position of a value on the scale, 0 to 1. The square root keeps one large country from making all others pale. */
const shareOf = (value: number, most: number): number =>
  most > 0 ? Math.sqrt(Math.max(0, value) / most) : 0;

const opacityAt = (share: number): number => LEAST + (1 - LEAST) * share;

/** What the colors mean: the scale from 0 to the largest value, with a figure near its middle. */
function Scale({ most, metric, currency }: { most: number; metric: Metric; currency: string }) {
  const quarter = COUNTS.has(metric) ? Math.round(most / 4) : most / 4;
  const figures = quarter > 0 && quarter < most ? [0, quarter, most] : [0, most];
  return (
    <div className="world-scale">
      <div className="world-scale-bar" />
      <div className="world-scale-figures">
        {figures.map((value) => (
          <span key={value} style={{ left: `${shareOf(value, most) * 100}%` }}>
            {formatMetric(metric, value, currency)}
          </span>
        ))}
      </div>
    </div>
  );
}

function codeOf(row: Row): [string, Row][] {
  const code = valueIn(row, 'country');
  return code === null ? [] : [[code, row]];
}
