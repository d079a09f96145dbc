import { Stack } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { EnrollmentSort } from '../../../../core/referrals/enrollment-sorts.ts';
import { formatCount, formatDate, formatMoney } from '../../formats.ts';
import { type ChoiceColumn, useColumnChoice } from '../../parts/column-choice.ts';
import { EnrollmentStatus } from './enrollment-status.tsx';
import type { Enrollment, Program } from './responses.ts';
import { totalsText } from './words.ts';

/** What a cell is given beside the referrer. */
type Context = { program: Program | undefined /** Of the workspace. */; currency: string };

export type EnrollmentColumn = ChoiceColumn & {
  sort?: EnrollmentSort;
  isFigure?: boolean;
  cell: (enrollment: Enrollment, context: Context) => ReactNode;
};

/** The columns beside the referrer, in their order. */
const COLUMNS: readonly EnrollmentColumn[] = [
  { key: 'program', name: 'Program', cell: (_, { program }) => program?.name },
  { key: 'status', name: 'Status', cell: ({ status }) => <EnrollmentStatus status={status} /> },
  {
    key: 'mode',
    name: 'Earns as',
    isExtra: true,
    cell: ({ reward_mode }) => (reward_mode === 'affiliate' ? 'Affiliate' : 'Referrer'),
  },
  figure('clicks', 'Clicks', ({ totals }) => formatCount(totals.clicks)),
  figure('signups', 'Signups', ({ totals }) => formatCount(totals.signups)),
  figure('purchases', 'Purchases', ({ totals }) => formatCount(totals.purchases)),
  figure('revenue', 'Revenue', ({ totals }, context) => totalsText(totals.revenue, currencyOf(context))),
  figure('epc', 'EPC', ({ totals }, context) => totalsText(totals.epc, currencyOf(context))),
  {
    ...figure('average_lifetime_value', 'Average LTV', ({ totals }, context) =>
      totalsText(totals.average_lifetime_value, currencyOf(context)),
    ),
    isExtra: true,
  },
  figure('owed', 'Owed', ({ balances }, context) => <Owed cash={balances.cash} context={context} />),
  {
    key: 'created',
    name: 'Joined',
    sort: 'created',
    isExtra: true,
    cell: ({ created_at }) => formatDate(created_at),
  },
];

function figure(sort: EnrollmentSort, name: string, cell: EnrollmentColumn['cell']): EnrollmentColumn {
  return { key: sort, name, sort, isFigure: true, cell };
}

const currencyOf = ({ program, currency }: Context): string => program?.currency ?? currency;

function Owed({ cash, context }: { cash: Enrollment['balances']['cash']; context: Context }) {
  const owed = Object.entries(cash);
  return (
    <Stack gap={0}>
      {owed.length === 0 && formatMoney(0, currencyOf(context))}
      {owed.map(([currency, { pending, eligible }]) => (
        <span key={currency}>{formatMoney(pending + eligible, currency)}</span>
      ))}
    </Stack>
  );
}

/** The columns that a person chose. The program is one of them where there are several. */
export function useEnrollmentColumns(hasPrograms: boolean) {
  const offered = useMemo(
    () => COLUMNS.map((column) => (column.key === 'program' ? { ...column, isExtra: !hasPrograms } : column)),
    [hasPrograms],
  );
  return useColumnChoice('hoplog.referrers.columns', offered);
}
