import { Stack } from '@mantine/core';
import { type ReactNode, useDeferredValue } from 'react';
import { formatInstantIn } from '../formats.ts';
import { useChartAhead } from '../parts/chart.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { GeoCredit } from '../parts/geo-credit.tsx';
import { SmallNote } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { Loading } from '../parts/skeletons.tsx';
import { Breakdowns } from './breakdowns.tsx';
import { Controls } from './controls.tsx';
import { DetailsSkeleton, FiguresSkeleton } from './figures-skeleton.tsx';
import { Funnel } from './funnel.tsx';
import { OverTime } from './over-time.tsx';
import { overTimeBody, type Result, type Source, SourceContext, useAnalytics, useSource } from './source.ts';
import { comparedWith, Totals } from './totals.tsx';
import { useView } from './use-view.ts';

type Props = {
  title: string;
  source: Source;
  /** Shown above the figures. */
  intro?: ReactNode;
  /** Shown without clicks and without filters. */
  empty: ReactNode;
};

/** Clicks, leads, conversions and revenue of a source: totals, over time, and what they are made of. */
export function Dashboard({ title, source, intro, empty }: Props) {
  return (
    <SourceContext value={source}>
      <Controls title={title} />
      {intro}
      <Figures empty={empty} />
      <GeoCredit />
    </SourceContext>
  );
}

function Figures({ empty }: Pick<Props, 'empty'>) {
  useChartAhead();
  const { view } = useView();
  const result = useAnalytics(overTimeBody(view, useSource()));
  return (
    <QueryView query={result} skeleton={<FiguresSkeleton />}>
      {(data) => (
        <Stack gap="md">
          <Totals result={data} />
          <Details result={data} empty={empty} />
        </Stack>
      )}
    </QueryView>
  );
}

/** Chart and lists, rendered after the totals. */
function Details({ result, empty }: { result: Result } & Pick<Props, 'empty'>) {
  const shown = useDeferredValue<Result | null>(result, null);
  const { view, setFilters } = useView();
  const { zone } = useSource();
  if (shown === null) {
    return (
      <Loading>
        <DetailsSkeleton />
      </Loading>
    );
  }
  const comparison = comparedWith(shown, zone);
  if (!hasActivity(shown)) {
    return view.filters.length === 0 ? (
      empty
    ) : (
      <EmptyState
        title="No clicks match the filters"
        action={
          <button type="button" className="text-press" onClick={() => setFilters([])}>
            Clear all filters
          </button>
        }
      >
        Remove a filter, or choose a longer period.
      </EmptyState>
    );
  }
  return (
    <>
      <OverTime result={shown} />
      <Breakdowns />
      <Funnel result={shown} />
      <SmallNote>
        From {formatInstantIn(shown.window.from, zone)} to {formatInstantIn(shown.window.to, zone)}, {zone}{' '}
        time. Bots are not counted.{comparison && ` ${comparison}.`}
      </SmallNote>
    </>
  );
}

const hasActivity = ({ totals }: Result) =>
  (totals.clicks ?? 0) > 0 || (totals.leads ?? 0) > 0 || (totals.conversions ?? 0) > 0;
