import { Paper, Skeleton, Stack, Text } from '@mantine/core';
import { Loading } from '../parts/skeletons.tsx';
import { CARDS, METRIC_NAMES } from './dimensions.ts';
import { metricsFor, useSource } from './source.ts';

/** The chart with its title and the button below it. Pixels. */
const CHART_HEIGHT = 360;
/** A row of a list of values with its gap. Pixels. */
const ROW_HEIGHT = 34;

/** The dashboard below its controls, while it loads. */
export function FiguresSkeleton() {
  const metrics = metricsFor(useSource());
  return (
    <Loading>
      <Stack gap="md">
        <Paper withBorder className="totals">
          {metrics.map((metric) => (
            <div key={metric} className="totals-metric">
              <Text component="span" size="sm" c="dimmed" className="totals-name">
                {METRIC_NAMES[metric]}
              </Text>
              <span className="totals-value figure-value">
                <Skeleton height="1lh" width="60%" />
              </span>
              <Text size="xs" component="div">
                <Skeleton height="1lh" width="40%" />
              </Text>
            </div>
          ))}
        </Paper>
        <DetailsSkeleton />
      </Stack>
    </Loading>
  );
}

/** The chart and the cards, while they load. */
export const DetailsSkeleton = () => (
  <Stack gap="md">
    <Skeleton height={CHART_HEIGHT} />
    <div className="breakdowns">
      {CARDS.map(({ parameter }) => (
        <Skeleton key={parameter} height={420} />
      ))}
    </div>
  </Stack>
);

/** The rows of a list of values, while they load. */
export const BarsSkeleton = () => (
  <Loading>
    <div className="bars-head">
      <Skeleton height="1lh" width={80} />
    </div>
    {[...Array(8).keys()].map((row) => (
      <Skeleton key={row} height={ROW_HEIGHT} mb={4} />
    ))}
  </Loading>
);
