import { useState } from 'preact/hooks';
import { ActivityChart } from './activity-chart.tsx';
import { formatCount, formatDay, formatSpan } from './formats.ts';
import { MEASURES, type Measure, type MeasureName } from './measures.ts';
import type { Day } from './stats.ts';
import { words } from './words.ts';

/** The daily series as a chart, with a table as its accessible alternative. */
export function ActivityCard({ series, days }: { series: Day[]; days: number }) {
  const [hidden, setHidden] = useState<ReadonlySet<MeasureName>>(new Set());
  const [pointed, setPointed] = useState<number | null>(null);
  const quiet = series.every((day) => MEASURES.every(({ name }) => day[name] === 0));
  const day = pointed === null ? undefined : series[pointed];

  function toggle({ name }: Measure) {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  }

  return (
    <section class="card" aria-labelledby="activity-heading">
      <h2 id="activity-heading">{words('activity')}</h2>
      {quiet ? (
        <p class="empty">{words('quiet', { days: formatSpan(days, 'day') })}</p>
      ) : (
        <>
          <div class="legend">
            {MEASURES.map((measure) => (
              <button
                key={measure.name}
                type="button"
                class={`measure measure-${measure.name}`}
                aria-pressed={!hidden.has(measure.name)}
                onClick={() => toggle(measure)}
              >
                <span class="swatch" aria-hidden="true" />
                {words(measure.name)}
                {day && <span class="reading">{formatCount(day[measure.name])}</span>}
              </button>
            ))}
            <span class="pointed">{day ? formatDay(day.day) : ' '}</span>
          </div>
          <div class="chart" role="img" aria-label={summaryOf(series, days)}>
            <ActivityChart series={series} hidden={hidden} onPoint={setPointed} />
          </div>
          <DayTable series={series} />
        </>
      )}
    </section>
  );
}

function summaryOf(series: Day[], days: number): string {
  const best = series.reduce((top, day) => (day.clicks > top.clicks ? day : top));
  const total = series.reduce((sum, day) => sum + day.clicks, 0);
  const facts = { days: formatSpan(days, 'day'), count: total };
  return best.clicks > 0
    ? words('chart_most', { ...facts, day: formatDay(best.day), most: formatCount(best.clicks) })
    : words('chart', facts);
}

function DayTable({ series }: { series: Day[] }) {
  return (
    <details class="days">
      <summary>{words('table')}</summary>
      <div class="lines">
        <table>
          <thead>
            <tr>
              <th scope="col">{words('day')}</th>
              {MEASURES.map(({ name }) => (
                <th key={name} scope="col" class="number">
                  {words(name)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {series.toReversed().map((day) => (
              <tr key={day.day}>
                <th scope="row">{formatDay(day.day)}</th>
                {MEASURES.map(({ name }) => (
                  <td key={name} class="number">
                    {formatCount(day[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
