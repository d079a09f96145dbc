import { Paper, Text, UnstyledButton } from '@mantine/core';
import { Delta } from '../parts/delta.tsx';
import { formatMetric, METRIC_NAMES } from './dimensions.ts';
import { metricsFor, type Result, useSource } from './source.ts';
import { useView } from './use-view.ts';

/** Totals of the period with their changes. A press shows a metric in the chart and the lists. */
export function Totals({ result: { totals, compared_totals: before } }: { result: Result }) {
  const source = useSource();
  const { view, change } = useView();
  return (
    <Paper withBorder className="totals" component="section" aria-label="Totals">
      {metricsFor(source).map((metric) => (
        <UnstyledButton
          key={metric}
          className="totals-metric"
          aria-pressed={view.metric === metric}
          onClick={() => change({ metric: metric === 'clicks' ? null : metric }, { replace: true })}
        >
          <Text component="span" size="sm" c="dimmed" className="totals-name">
            {METRIC_NAMES[metric]}
          </Text>
          <Value text={formatMetric(metric, totals[metric], source.currency)} />
          {before && (
            <Delta
              now={totals[metric] ?? 0}
              before={before[metric] ?? 0}
              against={view.comparison.kind === 'range' ? 'Compared with the chosen period' : undefined}
            />
          )}
        </UnstyledButton>
      ))}
    </Paper>
  );
}

/** Longer values get a smaller font, so that they do not wrap. Characters. */
const LONG = 9;

const Value = ({ text }: { text: string }) => (
  <span className="totals-value figure" data-long={text.length > LONG || undefined}>
    {text}
  </span>
);
