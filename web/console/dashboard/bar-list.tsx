import { Text } from '@mantine/core';
import { IconArrowUpRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { formatChange } from '../formats.ts';
import { ChannelMark } from '../parts/channel-mark.tsx';
import { DestinationMark, type DestinationPages, useDestinationPages } from '../parts/destination-pages.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { LetterMark } from '../parts/letter-mark.tsx';
import { QueryView } from '../parts/query-view.tsx';
import {
  DIMENSION_NAMES,
  flagBeside,
  formatMetric,
  METRIC_NAMES,
  nameOfId,
  type Tab,
  valueIn,
  valueName,
} from './dimensions.ts';
import { BarsSkeleton } from './figures-skeleton.tsx';
import { foldedLast, isFolded } from './folded-rows.ts';
import { breakdownBody, type Result, type Row, useAnalytics, useSource } from './source.ts';
import { useView } from './use-view.ts';
import { isChosen } from './view.ts';

/**
 * Dimensions whose values are sites: their rows begin with a letter, where others have a flag or nothing.
 */
const MARKED: ReadonlySet<string> = new Set(['referer_host', 'domain']);

/**
 * The top values of a dimension: bars behind rows, by the chosen metric. A press filters by the value.
 *
 * @param more shown when there are further values
 */
export function BarList({ tab, more }: { tab: Tab; more: ReactNode }) {
  const { view } = useView();
  const source = useSource();
  const { dimension } = tab;
  const query = useAnalytics(breakdownBody(view, source, dimension));
  const isOfLinks = source.isConsole && dimension === 'link';
  const shown = (isOfLinks && query.data?.rows.flatMap((row) => valueIn(row, 'link') ?? [])) || [];
  const destinations = useDestinationPages(shown);
  return (
    <QueryView
      query={query}
      skeleton={<BarsSkeleton />}
      empty={{ when: ({ rows }) => rows.length === 0, show: <EmptyState title="No data in this period" /> }}
    >
      {(result) => (
        <>
          <div className="bars-head" aria-hidden="true">
            <span>{DIMENSION_NAMES[dimension]}</span>
            <span>{METRIC_NAMES[view.metric]}</span>
          </div>
          <ul className="bars" aria-label={tab.title}>
            {foldedLast(result, dimension, view.metric).map((row) => (
              <Bar
                key={valueIn(row, dimension) ?? ''}
                row={row}
                result={result}
                tab={tab}
                destinations={destinations}
              />
            ))}
          </ul>
          {result.total_rows > result.rows.length && more}
        </>
      )}
    </QueryView>
  );
}

type BarProps = { row: Row; result: Result; tab: Tab; destinations: DestinationPages };

function Bar({ row, result, tab: { dimension }, destinations }: BarProps) {
  const { view, toggle } = useView();
  const { currency, isConsole } = useSource();
  const { metric } = view;
  const value = valueIn(row, dimension);
  const name = valueName(dimension, value, result.names);
  const note = value === null ? undefined : nameOfId(dimension, value, result.names)?.note;
  const flag = flagBeside(dimension, value);
  const isFilter = isChosen(view.filters, dimension, value);
  const page = destinations.get(value ?? '');
  const isRest = isFolded(row, result, dimension, metric);
  const most = Math.max(
    ...result.rows
      .filter((one) => !isFolded(one, result, dimension, metric))
      .map(({ metrics }) => metrics[metric] ?? 0),
  );
  const share = most > 0 && !isRest ? (row.metrics[metric] ?? 0) / most : 0;
  return (
    <li className="bar">
      <button
        type="button"
        className="bar-press"
        data-folded={isRest || undefined}
        aria-pressed={isFilter}
        title={isFilter ? `Remove the filter ${name}` : `Filter by ${name}`}
        onClick={() => toggle(dimension, value)}
      >
        {!isRest && <span className="bar-fill" style={{ width: `${Math.max(share * 100, 0.5)}%` }} />}
        <span className="bar-name">
          {flag && <span aria-hidden="true">{flag} </span>}
          {MARKED.has(dimension) && !isRest && <LetterMark name={value === null ? '' : name} />}
          {dimension === 'channel' && !isRest && <ChannelMark channel={value ?? ''} />}
          {isConsole && dimension === 'link' && !isRest && <DestinationMark page={page} name={name} />}
          {name}
          {note && (
            <Text component="span" size="xs" c="dimmed" ml={6} dir="auto" title={page?.title ?? undefined}>
              {note}
            </Text>
          )}
        </span>
        <RowChange row={row} metric={metric} />
        <span className="bar-value">{formatMetric(metric, row.metrics[metric], currency)}</span>
      </button>
      {isConsole && dimension === 'link' && value !== null && (
        <Link
          href={`/links/${value}`}
          className="bar-link"
          aria-label={`Open the link ${name}`}
          title="Open the link"
        >
          <IconArrowUpRight size={16} stroke={1.6} />
        </Link>
      )}
    </li>
  );
}

function RowChange({ row, metric }: { row: Row; metric: keyof Row['metrics'] }) {
  const before = row.compared?.[metric] ?? 0;
  if (before === 0) return null;
  const change = ((row.metrics[metric] ?? 0) - before) / before;
  const look = change > 0 ? 'up' : change < 0 ? 'down' : 'same';
  return <span className={`bar-change bar-change-${look}`}>{formatChange(change)}</span>;
}
