import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { RangeForm } from '../parts/range-form.tsx';
import { calendarPeriods } from './calendar-periods.ts';
import { useSource } from './source.ts';
import { useView } from './use-view.ts';
import { comparisonText } from './view.ts';

const RANGE = 'range';
/** Time ranges that end now, by the parameter `days`. */
const PERIODS = [
  { value: 'hour', label: 'Last hour' },
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: '90', label: 'Last 90 days' },
  { value: '365', label: 'Last 12 months' },
];

/** Today in a time zone, such as `2026-02-28`. */
const dayIn = (zone: string) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(new Date());

/** Chooses the time range. */
export function PeriodSelect() {
  const { view, change } = useView();
  const { zone } = useSource();
  const [isOpen, setOpen] = useState(false);
  const { window } = view;
  const chosen = window.kind === 'range' ? window : null;
  const calendar = calendarPeriods(dayIn(zone));
  const named = chosen && calendar.find(({ from, to }) => from === chosen.from && to === chosen.to);
  const days = window.kind === 'days' ? String(window.days) : 'hour';
  const isKnown = chosen !== null || PERIODS.some(({ value }) => value === days);
  const custom = chosen && !named ? `${chosen.from} to ${chosen.to}` : null;
  return (
    <div className="period-place">
      <NativeSelect
        aria-label="Time range"
        size="sm"
        className="period"
        data={[
          ...PERIODS,
          ...(isKnown ? [] : [{ value: days, label: `Last ${days} days` }]),
          ...calendar.map(({ value, label }) => ({ value, label })),
          { value: RANGE, label: custom ?? 'Custom range' },
          ...(custom ? [{ value: 'another', label: 'Another range' }] : []),
        ]}
        value={isOpen || custom ? RANGE : (named?.value ?? days)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const period = calendar.find((one) => one.value === value);
          const isCustom = value === RANGE || value === 'another';
          setOpen(isCustom);
          if (period) change({ days: null, from: period.from, to: period.to, by: null });
          else if (!isCustom) change({ days: value, from: null, to: null, by: null });
        }}
      />
      {isOpen && (
        <RangeForm
          label="Custom range"
          from={chosen?.from ?? ''}
          to={chosen?.to ?? ''}
          choose={(from, to) => {
            change({ days: null, from, to, by: null });
            setOpen(false);
          }}
          close={() => setOpen(false)}
        />
      )}
    </div>
  );
}

/** Chooses what the figures are compared with. */
export function ComparisonSelect() {
  const { view, change } = useView();
  const [isOpen, setOpen] = useState(false);
  const { comparison } = view;
  const chosen = comparison.kind === 'range' ? comparison : null;
  return (
    <div className="period-place">
      <NativeSelect
        aria-label="Compare with"
        size="sm"
        className="period"
        data={[
          { value: 'previous', label: 'vs. previous period' },
          { value: RANGE, label: chosen ? `vs. ${chosen.from} to ${chosen.to}` : 'vs. custom range' },
          ...(chosen ? [{ value: 'another', label: 'vs. another range' }] : []),
          { value: 'none', label: 'No comparison' },
        ]}
        value={isOpen ? RANGE : comparison.kind}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const isCustom = value === RANGE || value === 'another';
          setOpen(isCustom);
          if (!isCustom) change({ compare: value === 'none' ? 'none' : null });
        }}
      />
      {isOpen && (
        <RangeForm
          label="Compared range"
          from={chosen?.from ?? ''}
          to={chosen?.to ?? ''}
          choose={(from, to) => {
            change({ compare: comparisonText({ kind: 'range', from, to }) });
            setOpen(false);
          }}
          close={() => setOpen(false)}
        />
      )}
    </div>
  );
}
