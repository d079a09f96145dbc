import { Table, Text } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { formatInstant, formatMoney } from '../../formats.ts';
import { CsvDownload } from '../../parts/csv-download.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ChoiceFilter, NoRows, ProgramFilter, TextFilter } from './filters.tsx';
import { OneReferrer } from './one-referrer.tsx';
import { ReferrerCell, referrerOf } from './referrer-cell.tsx';
import type { Signup, Signups } from './responses.ts';
import { SignupReview } from './signup-review.tsx';
import { useViewState } from './view-state.ts';
import { BLOCK_REASON_CHOICES, blockReason } from './words.ts';

const PAGE = 50;

/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program', 'result', 'reason'];
const TABLE = {
  label: 'Signups',
  isDouble: true,
  minWidth: 700,
  columns: ['New user', 'Result', 'Referred by', 'Reported', { figure: 'Lifetime value' }],
};

/** Referred signups, and why some earned nothing. */
export function SignupsTab() {
  const view = useViewState();
  const filter = {
    search: view.get('search'),
    program_id: view.get('program'),
    partner_id: view.get('by'),
    ...resultFilter(view.get('result')),
    block_reason: view.get('reason'),
  };
  const signups = useApi<Signups>('/signups', {
    ...filter,
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  return (
    <>
      <FilterBar
        label="Filters of signups"
        names={FILTERS}
        search={<TextFilter name="search" label="Search" placeholder="New user or email" />}
        actions={
          <>
            <OneReferrer />
            <CsvDownload path="/signups" query={filter} name="signups" />
          </>
        }
      >
        <ProgramFilter />
        <ChoiceFilter
          name="result"
          label="Result"
          choices={[
            { value: 'held', label: 'To review' },
            { value: 'blocked', label: 'Blocked' },
            { value: 'counted', label: 'Accepted' },
          ]}
        />
        <ChoiceFilter name="reason" label="Why blocked" choices={BLOCK_REASON_CHOICES} />
      </FilterBar>
      <ListTab
        query={signups}
        items={({ signups }) => signups}
        table={TABLE}
        paged="signups"
        empty={
          <NoRows what="signups" names={[...FILTERS, 'search', 'by']}>
            Your server reports signups. Users without a referrer are not listed.
          </NoRows>
        }
        row={(signup) => (
          <Table.Tr key={signup.id}>
            <LongTextCell>
              {signup.external_user_id}
              <SmallNote>{signup.email}</SmallNote>
            </LongTextCell>
            <Table.Td>
              <Result signup={signup} />
            </Table.Td>
            {signup.partner_id === null ? (
              <Table.Td />
            ) : (
              <ReferrerCell referrer={{ ...referrerOf(signup), partner_id: signup.partner_id }} />
            )}
            <Table.Td>{formatInstant(signup.reported_at)}</Table.Td>
            <FigureCell>
              {Object.entries(signup.lifetime_value).map(([currency, amount]) => (
                <div key={currency}>{formatMoney(amount, currency)}</div>
              ))}
            </FigureCell>
          </Table.Tr>
        )}
      />
    </>
  );
}

/** The API's filters for a choice of the `Result` filter. */
function resultFilter(result: string | null) {
  if (result === null) return {};
  return result === 'held' ? { status: 'held' } : { blocked: result === 'blocked' };
}

function Result({ signup }: { signup: Signup }) {
  if (signup.status === 'pending') return <StatusBadge sign="waiting">Waiting for the click</StatusBadge>;
  if (signup.status === 'held') {
    return (
      <>
        <StatusBadge sign="paused">To review</StatusBadge>
        <SignupReview signup={signup} />
      </>
    );
  }
  if (signup.block_reason === null) return <StatusBadge sign="good">Accepted</StatusBadge>;
  return (
    <>
      <StatusBadge sign="bad">Blocked</StatusBadge>
      <Text size="sm">{blockReason(signup.block_reason)}</Text>
    </>
  );
}
