import { Stack, Table } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { ChoiceFilter, DayFilter, NoRows, ProgramFilter, TextFilter, usePrograms } from './filters.tsx';
import { LedgerSums } from './ledger-sums.tsx';
import type { Entries, Entry } from './responses.ts';
import { useViewState, type ViewState } from './view-state.ts';
import { amountText, CAUSE_CHOICES, causeName, STATUS_CHOICES, statusName } from './words.ts';

const PAGE = 50;
/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program', 'kind', 'status', 'cause', 'currency', 'order', 'from', 'to'];
const TABLE = {
  label: 'Entries of the ledger',
  minWidth: 900,
  columns: ['Time', 'User', 'What', { figure: 'Amount' }, 'Status', 'Order', 'Now'],
};

/** Entries of the ledger, with totals of the filtered ones. */
export function LedgerTab() {
  const view = useViewState();
  const filter = entryFilter(view);
  const entries = useApi<Entries>('/ledger', { ...filter, cursor: view.get('cursor'), limit: PAGE });
  return (
    <Stack gap="md">
      <Note>
        Entries are added, and never changed or deleted. A change is two entries: out of one status and into
        the next. Every balance is the sum of its entries.
      </Note>
      <Filters />
      <LedgerSums filter={filter} />
      <ListTab
        query={entries}
        items={({ entries }) => entries}
        table={TABLE}
        paged="the ledger"
        empty={
          <NoRows what="entries" names={[...FILTERS, 'user']}>
            An entry is added when a signup or purchase earns a reward, and whenever the reward changes.
          </NoRows>
        }
        row={(entry) => <Row key={entry.id} entry={entry} />}
      />
    </Stack>
  );
}

function Row({ entry }: { entry: Entry }) {
  return (
    <Table.Tr>
      <Table.Td>{formatInstant(entry.created_at)}</Table.Td>
      <LongTextCell>{entry.external_user_id}</LongTextCell>
      <Table.Td>
        {causeName(entry.cause)}
        {entry.level !== null && entry.level > 1 && <SmallNote>Level {entry.level}</SmallNote>}
      </Table.Td>
      {/* Otherwise a line could break between the sign of an amount and its digits. */}
      <FigureCell style={{ whiteSpace: entry.currency === null ? undefined : 'nowrap' }}>
        {amountText(entry.amount, entry.currency, entry.credit_kind)}
      </FigureCell>
      <Table.Td>{statusName(entry.status)}</Table.Td>
      <LongTextCell>
        {entry.order_id ?? ''}
        {entry.refund_id !== null && <SmallNote>Refund {entry.refund_id}</SmallNote>}
      </LongTextCell>
      <Table.Td>{statusName(entry.present_status)}</Table.Td>
    </Table.Tr>
  );
}

function Filters() {
  const { workspace } = useSession();
  const currencies = new Set([...usePrograms().map(({ currency }) => currency), workspace.currency]);
  return (
    <FilterBar
      label="Filters of the ledger"
      names={FILTERS}
      search={<TextFilter name="user" label="User" placeholder="Exact ID" />}
    >
      <ProgramFilter />
      <ChoiceFilter
        name="kind"
        label="Kind"
        choices={[
          { value: 'commission', label: 'Commission' },
          { value: 'credit', label: 'Credits' },
        ]}
      />
      <ChoiceFilter name="status" label="Status" choices={STATUS_CHOICES} />
      <ChoiceFilter name="cause" label="What" choices={CAUSE_CHOICES} />
      <ChoiceFilter
        name="currency"
        label="Currency"
        choices={[...currencies].map((value) => ({ value, label: value.toUpperCase() }))}
      />
      <TextFilter name="order" label="Order" placeholder="Exact ID" />
      <DayFilter name="from" label="From" />
      <DayFilter name="to" label="To" />
    </FilterBar>
  );
}

/** The URL's filters as API parameters; days are in the viewer's time zone, both included. */
function entryFilter(view: ViewState) {
  return {
    external_user_id: view.get('user'),
    program_id: view.get('program'),
    kind: view.get('kind'),
    status: view.get('status'),
    cause: view.get('cause'),
    currency: view.get('currency'),
    order_id: view.get('order'),
    from: midnight(view.get('from'), 0),
    to: midnight(view.get('to'), 1),
  };
}

function midnight(day: string | null, later: number): string | null {
  const date = new Date(`${day}T00:00:00`);
  if (day === null || Number.isNaN(date.getTime())) return null;
  date.setDate(date.getDate() + later);
  return date.toISOString();
}
