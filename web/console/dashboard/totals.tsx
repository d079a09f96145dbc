import { Paper, Text, UnstyledButton } from '@mantine/core';
import { formatInstantIn } from '../formats.ts';
import { Delta } from '../parts/delta.tsx';
import { formatMetric, METRIC_NAMES } from './dimensions.ts';
import { metricsFor, type Result, useSource } from './source.ts';
import { useView } from './use-view.ts';

/** Longest value that fits in the usual size. */
const MOST_CHARACTERS = 11;

/** Totals of the period with their changes. A press shows a metric in the chart and the lists. */
export function Totals({ result }: { result: Result }) {
  const { totals, compared_totals: before } = result;
  const source = useSource();
  const against = comparedWith(result, source.zone);
  const { view, change } = useView();
  const shown = metricsFor(source).map((metric) => ({
    metric,
    value: formatMetric(metric, totals[metric], source.currency),
  }));
  return (
    <Paper
      withBorder
      className="totals"
      component="section"
      aria-label="Totals"
      data-long={shown.some(({ value }) => value.length > MOST_CHARACTERS) || undefined}
    >
      {shown.map(({ metric, value }) => (
        <UnstyledButton
          key={metric}
          className="totals-metric"
          aria-pressed={view.metric === metric}
          onClick={() => change({ metric: metric === 'clicks' ? null : metric }, { replace: true })}
        >
          <Text component="span" size="sm" c="dimmed" className="totals-name">
            {METRIC_NAMES[metric]}
          </Text>
          <span className="totals-value figure-value">{value}</span>
          {before && <Delta now={totals[metric] ?? 0} before={before[metric] ?? 0} against={against} />}
        </UnstyledButton>
      ))}
    </Paper>
  );
}

/** The period that changes are against, in words; undefined without one. */
export function comparedWith({ compared_window: before }: Result, zone: string): string | undefined {
  if (!before) return undefined;
  return `Compared with ${formatInstantIn(before.from, zone)} to ${formatInstantIn(before.to, zone)}`;
}
