import { SimpleGrid } from '@mantine/core';
import { formatCount, formatMoney } from '../../formats.ts';
import { Figure } from '../../parts/figure.tsx';
import type { Figures, Stats } from './responses.ts';

const COUNTS: [Exclude<keyof Figures, 'revenue'>, string][] = [
  ['clicks', 'Clicks'],
  ['visitors', 'Visitors'],
  ['conversions', 'Conversions'],
];

/** Totals of the period, each with its change from the previous period. */
export function Totals({ stats, withRevenue }: { stats: Stats; withRevenue: boolean }) {
  const { totals, previous, currency } = stats;
  const changeOf = (key: keyof Figures) => ({ now: totals[key], before: previous.totals[key] });
  return (
    <SimpleGrid cols={{ base: 2, md: withRevenue ? 4 : 3 }} spacing="sm">
      {COUNTS.map(([key, label]) => (
        <Figure key={key} label={label} value={formatCount(totals[key])} change={changeOf(key)} />
      ))}
      {withRevenue && (
        <Figure label="Revenue" value={formatMoney(totals.revenue, currency)} change={changeOf('revenue')} />
      )}
    </SimpleGrid>
  );
}
