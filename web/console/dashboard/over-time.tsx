import { Button, Group, NativeSelect, Paper, Table, Title } from '@mantine/core';
import { Suspense, useMemo, useState } from 'react';
import type { Metric, TimeUnit } from '../../../core/analytics/dimensions.ts';
import { useSession } from '../api/session.ts';
import { formatPercent, formatShort, plural, shortMoney } from '../formats.ts';
import { Chart } from '../parts/chart.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import type { ChartLine } from '../parts/time-chart.tsx';
import { lazyPage } from '../shell/lazy-page.tsx';
import { AnnotationList } from './annotation-list.tsx';
import { marksOf, placedIn } from './annotation-marks.ts';
import { useAnnotations } from './annotations.ts';
import { bucketName, chartBuckets, chartZone, touchedBuckets } from './buckets.ts';
import { formatMetric, METRIC_NAMES, valueIn } from './dimensions.ts';
import { OnlineNow } from './online-now.tsx';
import { metricsFor, type Result, type Source, unitIn, useSource } from './source.ts';
import { useView } from './use-view.ts';
import { unitOf, unitsOf, type View } from './view.ts';

const ANNOTATIONS = lazyPage<{ close: () => void }>(() => import('./annotations-dialog.tsx'));

const UNIT_NAMES: Record<TimeUnit, string> = {
  minute: 'By minute',
  hour: 'By hour',
  day: 'By day',
  week: 'By week',
  month: 'By month',
};

/** Label of the compared line. */
const comparedName = ({ comparison }: View): string =>
  comparison.kind === 'range' ? 'Compared period' : 'Previous period';

/** The chosen metric over time as an area, the compared period dashed; optionally as a table. */
export function OverTime({ result }: { result: Result }) {
  const { view, search, change } = useView();
  const { currency, zone, isConsole } = useSource();
  const { metric } = view;
  // The unit of the response: a previous response may still be shown.
  const unit = unitIn(result) ?? unitOf(view);
  const beforeName = comparedName(view);
  const isTable = search.get('numbers') === 'shown';
  const { times, lines, labels } = useMemo(
    () => chartOf(result, metric, unit, { currency, beforeName, zone }),
    [result, metric, unit, currency, beforeName, zone],
  );
  const writeAxis = useMemo(() => axisWriter(metric, currency), [metric, currency]);
  const annotations = useAnnotations();
  const { placed, marks } = useMemo(() => {
    const inChart = placedIn(annotations, labels, unit, zone);
    return { placed: inChart, marks: marksOf(inChart) };
  }, [annotations, labels, unit, zone]);
  const units = unitsOf(view.window);
  return (
    <Paper withBorder p="md" component="section" aria-label="Over time" miw={0}>
      <Group justify="space-between" mb="xs" gap="xs" wrap="nowrap">
        <Group gap="md" wrap="nowrap">
          <Title order={2} size="h4">
            {METRIC_NAMES[metric]}
          </Title>
          {isConsole && <OnlineNow />}
        </Group>
        <NativeSelect
          aria-label="Size of the chart's steps"
          size="xs"
          data={units.map((one) => ({ value: one, label: UNIT_NAMES[one] }))}
          value={unitOf(view)}
          onChange={(event) => change({ by: event.currentTarget.value }, { replace: true })}
        />
      </Group>
      <Chart
        times={times}
        lines={lines}
        zone={chartZone(unit, zone)}
        writeAxis={writeAxis}
        marks={marks}
        summary={summaryOf(result, view, unit, { currency, zone })}
      />
      <AnnotationList placed={placed} />
      <Group gap="md" mt="xs">
        <Button
          variant="subtle"
          size="xs"
          px={0}
          aria-expanded={isTable}
          onClick={() => change({ numbers: isTable ? null : 'shown' }, { replace: true })}
        >
          {isTable ? 'Hide table' : 'Show as table'}
        </Button>
        {isConsole && <AnnotationsButton />}
      </Group>
      {isTable && <FiguresTable result={result} unit={unit} />}
    </Paper>
  );
}

function axisWriter(metric: Metric, currency: string): (value: number) => string {
  if (metric === 'conversion_rate') return formatPercent;
  return metric === 'revenue' || metric === 'revenue_per_click' ? shortMoney(currency) : formatShort;
}

/** Opens the dialog in which operators make and delete annotations. */
function AnnotationsButton() {
  const { can } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (!can('operator')) return null;
  return (
    <>
      <Button variant="subtle" size="xs" px={0} onClick={() => setOpen(true)}>
        Annotations
      </Button>
      {isOpen && (
        <Suspense fallback={null}>
          <OpenedAnnotations close={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function OpenedAnnotations({ close }: { close: () => void }) {
  const [AnnotationsDialog] = useState(() => ANNOTATIONS.component());
  return <AnnotationsDialog close={close} />;
}

function chartOf(
  result: Result,
  metric: Metric,
  unit: TimeUnit,
  { currency, beforeName, zone }: { currency: string; beforeName: string; zone: string },
) {
  const { window, compared_window: before } = result;
  const { rows, labels, times, isOpenEnded } = chartBuckets(result, unit, zone);
  const write = (value: number) => formatMetric(metric, value, currency);
  const lines: ChartLine[] = [
    {
      label: METRIC_NAMES[metric],
      look: 'area',
      isOpenEnded,
      write,
      values: rows.map(({ metrics }) => metrics[metric] ?? null),
    },
  ];
  // Without previous data, a line at zero would look like data.
  if (before && rows.some(({ compared }) => (compared?.[metric] ?? 0) !== 0)) {
    const cut = result.rows.length - rows.length;
    const known = (touchedBuckets(before, unit, zone) ?? Number.POSITIVE_INFINITY) - cut;
    lines.push({
      label: beforeName,
      look: 'previous',
      write,
      // Its window may touch fewer days, as where a clock was changed: the rest is nothing, not 0.
      values: rows.map(({ compared }, index) => (index < known ? (compared?.[metric] ?? null) : null)),
      shift: (Date.parse(before.from) - Date.parse(window.from)) / 1_000,
    });
  }
  return { times, lines, labels };
}

function FiguresTable({ result, unit }: { result: Result; unit: TimeUnit }) {
  const source = useSource();
  const metrics = metricsFor(source);
  return (
    <ScrollTable
      label="Figures over time"
      minWidth={560}
      mt="xs"
      columns={[
        `${unit.charAt(0).toUpperCase()}${unit.slice(1)}`,
        ...metrics.map((metric) => ({ figure: METRIC_NAMES[metric] })),
      ]}
    >
      <Table.Tbody>
        {result.rows.toReversed().map((row) => {
          const start = valueIn(row, `time:${unit}`) ?? '';
          return (
            <Table.Tr key={start}>
              <Table.Td>{bucketName(start, unit, source.zone)}</Table.Td>
              {metrics.map((metric) => (
                <Table.Td key={metric} ta="right">
                  {formatMetric(metric, row.metrics[metric], source.currency)}
                </Table.Td>
              ))}
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </ScrollTable>
  );
}

/** Text alternative of the chart: its total and maximum. */
function summaryOf(
  { rows, totals }: Result,
  { metric }: View,
  unit: TimeUnit,
  { currency, zone }: Pick<Source, 'currency' | 'zone'>,
): string {
  const written = (value: number | null | undefined) => formatMetric(metric, value, currency);
  const parts = [
    `${METRIC_NAMES[metric]} by ${unit}: ${written(totals[metric])} in ${plural(rows.length, unit, `${unit}s`)}`,
  ];
  const top = mostOf(rows, metric);
  if (top) {
    const when = bucketName(valueIn(top, `time:${unit}`) ?? '', unit, zone);
    parts.push(`most on ${when} with ${written(top.metrics[metric])}`);
  }
  return `${parts.join(', ')}.`;
}

function mostOf(rows: Result['rows'], metric: Metric): Result['rows'][number] | null {
  const figureOf = (row: Result['rows'][number]) => row.metrics[metric] ?? 0;
  const [first, ...others] = rows;
  if (!first) return null;
  const top = others.reduce((most, row) => (figureOf(row) > figureOf(most) ? row : most), first);
  return figureOf(top) > 0 ? top : null;
}
