import { Button, Group, SimpleGrid, Stack, Table, Title } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { methodName } from '../../../../core/referrals/payout-method-names.ts';
import { callApi } from '../../api/call.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatDate, formatMoney } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Figure } from '../../parts/figure.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { FigureCell, LongTextCell, ScrollTable, TableSkeleton } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ConfirmAddressButton } from './confirm-address-button.tsx';
import { DownloadPayout } from './download-payout.tsx';
import { ChoiceFilter, ProgramFilter } from './filters.tsx';
import { ReferrerCell } from './referrer-cell.tsx';
import type { Eligible, EligibleBalance, Sums, Totals } from './responses.ts';
import { useViewState } from './view-state.ts';
import { formatName, type PayoutFormat, payoutFormat, totalsText } from './words.ts';

/** Initial number of rows. */
const FIRST = 50;
/** Rows added per press. */
const MORE = 200;

/** In place of a figure that is not known. */
const UNKNOWN = '–';

const TABLE = {
  label: 'Balances that are ready to pay',
  minWidth: 700,
  columns: ['Referrer', 'Payout method', { figure: 'Commissions' }, { figure: 'Balance' }, 'Next file'],
};

/** Payable balances, reasons why others are held back, and the payout file. */
export function EligibleBalances() {
  const { currency } = useSession().workspace;
  const view = useViewState();
  const { can } = useSession();
  const program = view.get('program');
  const format = payoutFormat(view.get('format'));
  const eligible = useEligible(program, format);
  return (
    <section aria-labelledby="eligible">
      <Title order={2} size="h4" id="eligible" mb="sm">
        Ready to pay
      </Title>
      <FilterBar
        label="Filters of balances"
        names={['program', 'format']}
        actions={
          can('operator') && (
            <DownloadPayout
              key={format}
              program={program}
              first={format}
              payable={eligible.data?.referrers ?? null}
            />
          )
        }
      >
        <ProgramFilter />
        <ChoiceFilter
          name="format"
          label="Payout file"
          all={formatName('csv')}
          choices={(['paypal', 'wise'] as const).map((value) => ({ value, label: formatName(value) }))}
        />
      </FilterBar>
      <SimpleGrid cols={{ base: 2, md: 4 }} mb="sm">
        <Figure
          label="Referrers to pay"
          value={eligible.data ? formatCount(eligible.data.referrers) : UNKNOWN}
        />
        <Figure
          label="Total to pay"
          value={eligible.data ? totalsText(eligible.data.totals, currency) : UNKNOWN}
        />
        <LedgerFigure label="On hold" program={program} status="pending" />
        <LedgerFigure label="Paid so far" program={program} status="paid" />
      </SimpleGrid>
      <QueryView
        query={eligible}
        skeleton={<TableSkeleton {...TABLE} isDouble />}
        empty={{
          when: ({ balances }) => balances.length === 0,
          show: (
            <EmptyState title="Nothing is ready to pay">
              Commission becomes ready to pay when its holding period ends.
            </EmptyState>
          ),
        }}
      >
        {({ balances }) => (
          <Stack gap="sm">
            <ScrollTable {...TABLE}>
              <Table.Tbody>
                {balances.map((balance) => (
                  <Row key={balance.partner_id} balance={balance} />
                ))}
              </Table.Tbody>
            </ScrollTable>
            {eligible.hasNextPage && (
              <Group justify="center">
                <Button
                  variant="default"
                  size="xs"
                  loading={eligible.isFetchingNextPage}
                  onClick={() => void eligible.fetchNextPage()}
                >
                  Show more
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </QueryView>
    </section>
  );
}

/** What the ledger has of commissions with this status. */
function LedgerFigure({
  label,
  program,
  status,
}: {
  label: string;
  program: string | null;
  status: 'pending' | 'paid';
}) {
  const { currency } = useSession().workspace;
  const sums = useApi<Sums>('/ledger/balances', { program_id: program, kind: 'commission', status });
  const totals: Totals = {};
  for (const { currency: own, amount } of sums.data?.balances ?? [])
    if (own !== null) totals[own] = (totals[own] ?? 0) + amount;
  return <Figure label={label} value={sums.data ? totalsText(totals, currency) : UNKNOWN} />;
}

/** Totals and a number of balances. */
function useEligible(program: string | null, format: PayoutFormat) {
  return useInfiniteQuery({
    queryKey: ['/payouts/eligible', 'pages', program, format],
    queryFn: ({ pageParam: cursor, signal }) =>
      callApi<Eligible>('/payouts/eligible', {
        query: { program_id: program, format, cursor, limit: cursor === null ? FIRST : MORE },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: keepPreviousData,
    select: ({ pages }) => ({
      referrers: pages.at(-1)?.referrers ?? 0,
      totals: pages.at(-1)?.totals ?? {},
      balances: pages.flatMap(({ balances }) => balances),
    }),
  });
}

const HELD_BACK = {
  suspended: 'Suspended',
  in_open_file: 'In an open file',
  negative: 'Refunded after payment',
  below_one_unit: 'Less than PayPal can pay',
  no_payout_method: 'No payout address',
  payout_method_changed: 'New address',
  payout_failed: 'Last payment came back',
  payout_name: 'Name that Wise refuses',
};

/** How the owner resolves a reason, where that is possible. */
const WHAT_HELPS: Partial<Record<NonNullable<EligibleBalance['held_back']>, string>> = {
  in_open_file: 'Mark the file as paid, or cancel it.',
  no_payout_method: 'The referrer saves it in the dashboard, or you do in the referrer.',
  below_one_unit: 'PayPal takes no decimals in this currency.',
  payout_failed: 'Change the address, or retry the failed line.',
  payout_name: 'Set a payout name of two words in the referrer.',
};

function whatHelps({ held_back: heldBack, payout_held_until: until }: EligibleBalance): string | undefined {
  if (heldBack === 'payout_method_changed' && until !== null) return `Payable from ${formatDate(until)}.`;
  return heldBack === null ? undefined : WHAT_HELPS[heldBack];
}

function Row({ balance }: { balance: EligibleBalance }) {
  const { payout_method: method, held_back: heldBack } = balance;
  return (
    <Table.Tr>
      <ReferrerCell referrer={balance} />
      <LongTextCell>{method ? `${methodName(method.method)}, ${method.email}` : 'Not set'}</LongTextCell>
      <FigureCell>{formatCount(balance.commissions)}</FigureCell>
      <FigureCell style={{ whiteSpace: 'nowrap' }}>
        {formatMoney(balance.amount, balance.currency)}
      </FigureCell>
      <Table.Td>
        {heldBack === null ? (
          <StatusBadge sign="good">Included</StatusBadge>
        ) : (
          <StatusBadge sign="waiting">
            {heldBack === 'below_minimum'
              ? `Below ${formatMoney(balance.min_payout, balance.currency)}`
              : HELD_BACK[heldBack]}
          </StatusBadge>
        )}
        <SmallNote>
          {heldBack === null
            ? balance.in_open_files !== 0 &&
              `${formatMoney(balance.in_open_files, balance.currency)} in open files`
            : whatHelps(balance)}
        </SmallNote>
        {heldBack === 'payout_method_changed' && <ConfirmAddressButton referrer={balance} />}
      </Table.Td>
    </Table.Tr>
  );
}
