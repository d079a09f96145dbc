import { Paper, Text, Title } from '@mantine/core';
import { formatCount, formatPercent } from '../formats.ts';
import { funnelSteps } from './funnel-steps.ts';
import type { Result } from './source.ts';

/** Clicks, leads and conversions of the view, each with its part of the step before. */
export function Funnel({ result: { totals } }: { result: Result }) {
  const steps = funnelSteps(totals);
  const most = Math.max(1, ...steps.map(([metric]) => totals[metric] ?? 0));
  return (
    <Paper withBorder p="md" component="section" aria-label="Funnel" miw={0}>
      <Title order={2} size="h4" mb="sm">
        Funnel
      </Title>
      <ol className="funnel">
        {steps.map(([metric, name], nth) => {
          const count = totals[metric] ?? 0;
          const [beforeMetric] = steps[nth - 1] ?? [];
          const before = beforeMetric ? (totals[beforeMetric] ?? 0) : null;
          return (
            <li key={metric}>
              <div className="funnel-words">
                <Text component="span" size="sm" fw={600}>
                  {name}
                </Text>
                <span>{formatCount(count)}</span>
                <Text component="span" size="xs" c="dimmed">
                  {before === null ? '100%' : rateText(count, before, steps[nth - 1]?.[1] ?? '')}
                </Text>
              </div>
              <div className="funnel-bar">
                <div style={{ width: `${(count / most) * 100}%` }} />
              </div>
            </li>
          );
        })}
      </ol>
    </Paper>
  );
}

const rateText = (count: number, before: number, name: string) =>
  before === 0 ? `No ${name.toLowerCase()}` : `${formatPercent(count / before)} of ${name.toLowerCase()}`;
