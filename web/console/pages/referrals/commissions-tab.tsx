import { Table } from '@mantine/core';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatDate, formatInstant, formatMoney } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CsvDownload } from '../../parts/csv-download.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { ChoiceFilter, NoRows, ProgramFilter } from './filters.tsx';
import { OneReferrer } from './one-referrer.tsx';
import { earnerOf, ReferrerCell, referrerName } from './referrer-cell.tsx';
import type { Commission, Commissions } from './responses.ts';
import { useViewState } from './view-state.ts';
import { statusName } from './words.ts';

const PAGE = 50;
const STATUSES = ['pending', 'eligible', 'paid', 'reversed', 'rejected'];

const KINDS = { sale: 'Order', refund: 'Refund of order', correction: 'Correction of order' };

/** A commission that reverses another is rejected with that one. */
const isRejectable = ({ kind, status }: Commission) =>
  (kind === 'sale' || kind === 'manual' || kind === 'imported') &&
  (status === 'pending' || status === 'eligible');

/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program', 'status'];
const TABLE = {
  label: 'Commissions',
  minWidth: 760,
  isDouble: true,
  columns: ['Referrer', 'For', { figure: 'Amount' }, 'Status', 'Created', 'Action'],
};

/** Commissions; one that is not paid can be rejected. */
export function CommissionsTab() {
  const view = useViewState();
  const filter = {
    program_id: view.get('program'),
    partner_id: view.get('by'),
    status: view.get('status'),
  };
  const commissions = useApi<Commissions>('/commissions', {
    ...filter,
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  return (
    <>
      <FilterBar
        label="Filters of commissions"
        names={FILTERS}
        actions={
          <>
            <OneReferrer />
            <CsvDownload path="/commissions" query={filter} name="commissions" />
          </>
        }
      >
        <ProgramFilter />
        <ChoiceFilter
          name="status"
          label="Status"
          choices={STATUSES.map((value) => ({ value, label: statusName(value) }))}
        />
      </FilterBar>
      <ListTab
        query={commissions}
        items={({ commissions }) => commissions}
        table={TABLE}
        paged="commissions"
        empty={
          <NoRows what="commissions" names={[...FILTERS, 'by']}>
            A commission is added when a purchase earns one, or by hand at a referrer.
          </NoRows>
        }
        row={(commission) => <Row key={commission.id} commission={commission} />}
      />
    </>
  );
}

function Row({ commission }: { commission: Commission }) {
  const { amount, remaining, currency, status, held_until: heldUntil } = commission;
  return (
    <Table.Tr>
      <ReferrerCell referrer={earnerOf(commission)} />
      <LongTextCell>
        {commission.kind === 'imported' ? (
          'Imported'
        ) : commission.kind === 'manual' ? (
          <>
            {amount < 0 ? 'Claw-back' : 'Bonus'}
            <SmallNote>{commission.note}</SmallNote>
          </>
        ) : (
          <>
            {KINDS[commission.kind]} {commission.order_id}
          </>
        )}
      </LongTextCell>
      <FigureCell>
        {formatMoney(amount, currency)}
        {remaining !== amount && status !== 'reversed' && (
          <SmallNote>{formatMoney(remaining, currency)} left</SmallNote>
        )}
      </FigureCell>
      <Table.Td>
        {statusName(status)}
        {heldUntil !== null && <SmallNote>until {formatDate(heldUntil)}</SmallNote>}
      </Table.Td>
      <Table.Td>{formatInstant(commission.created_at)}</Table.Td>
      <Table.Td>{isRejectable(commission) && <RejectButton commission={commission} />}</Table.Td>
    </Table.Tr>
  );
}

function RejectButton({ commission }: { commission: Commission }) {
  const { can } = useSession();
  const reject = useSend<void>(() => ({ path: `/commissions/${commission.id}/reject` }), {
    refresh: ['/referrals', '/commissions', '/ledger', '/enrollments', '/payouts'],
    done: 'Commission rejected',
  });
  if (!can('operator')) return null;
  const amount = formatMoney(commission.remaining, commission.currency);
  const name = referrerName(earnerOf(commission));
  return (
    <ConfirmButton
      size="compact-xs"
      aria-label={`Reject ${amount} of ${name}`}
      question={`Reject the commission of ${amount}?`}
      consequence={`${name} does not get it. This can't be undone; a bonus can replace it.`}
      yes="Reject"
      pending={reject.isPending}
      onConfirm={() => reject.mutateAsync()}
    >
      Reject
    </ConfirmButton>
  );
}
