import { useState } from 'react';
import { countryName } from '../formats.ts';
import { flagOf, formatMetric, METRIC_NAMES, valueIn } from './dimensions.ts';
import { type Result, type Row, useSource } from './source.ts';
import { useView } from './use-view.ts';
import { isChosen } from './view.ts';
import { WORLD_SHAPES, WORLD_SIZE } from './world-shapes.ts';

/** Least opacity of a country with a value: one click differs from none. */
const LEAST = 0.18;
const [WIDTH, HEIGHT] = WORLD_SIZE;

/** The map itself. A press on a country with clicks filters by it. */
export default function WorldShapesMap({ result }: { result: Result }) {
  const { view, toggle } = useView();
  const { currency } = useSource();
  const [pointed, setPointed] = useState<string | null>(null);
  const { metric } = view;
  const rows = new Map(result.rows.flatMap((row) => codeOf(row)));
  const most = Math.max(0, ...[...rows.values()].map(({ metrics }) => metrics[metric] ?? 0));
  const textOf = (code: string) =>
    `${countryName(code)}: ${formatMetric(metric, rows.get(code)?.metrics[metric] ?? 0, currency)}`;
  const top = [...rows].slice(0, 3).map(([code]) => textOf(code));
  return (
    <div className="world">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Map of ${METRIC_NAMES[metric].toLowerCase()} by country. ${top.join(', ')}`}
        onPointerLeave={() => setPointed(null)}
      >
        {Object.entries(WORLD_SHAPES).map(([code, path]) => {
          const value = rows.get(code)?.metrics[metric] ?? 0;
          const share = most > 0 ? Math.sqrt(value / most) : 0;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list of countries has the same by keyboard
            <path
              key={code}
              d={path}
              className="world-country"
              data-country={code}
              data-chosen={isChosen(view.filters, 'country', code) || undefined}
              data-any={rows.has(code) || undefined}
              style={value > 0 ? { fillOpacity: LEAST + (1 - LEAST) * share } : undefined}
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
            : 'No data in this period'}
      </p>
    </div>
  );
}

function codeOf(row: Row): [string, Row][] {
  const code = valueIn(row, 'country');
  return code === null ? [] : [[code, row]];
}
