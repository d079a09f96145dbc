import { Stack, Table } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatMoney } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { EnrollmentDrawer } from './enrollment-drawer.tsx';
import { EnrollmentStatus } from './enrollment-status.tsx';
import { ChoiceFilter, NoRows, ProgramFilter, TextFilter, usePrograms } from './filters.tsx';
import { ReferrerCell } from './referrer-cell.tsx';
import type { Enrollment, Enrollments, Program } from './responses.ts';
import { useViewState } from './view-state.ts';
import { totalsText } from './words.ts';

const PAGE = 50;
/** What the list looks like with data. */
const EXAMPLE = [
  ['Ada Lovelace', '9 signups', '$920.00', '$184.00 owed'],
  ['Grace Hopper', '6 signups', '$487.50', '$97.50 owed'],
];
/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program', 'status', 'mode'];
const TABLE = {
  label: 'Enrollments',
  isDouble: true,
  minWidth: 980,
  columns: [
    'Referrer',
    'Program',
    'Status',
    'Earns',
    { figure: 'Clicks' },
    { figure: 'Signups' },
    { figure: 'Purchases' },
    { figure: 'Revenue' },
    { figure: 'Owed' },
  ],
};

/** Referrers with totals and status. */
export function EnrollmentsTab() {
  const view = useViewState();
  const enrollments = useApi<Enrollments>('/enrollments', {
    search: view.get('search'),
    program_id: view.get('program'),
    status: view.get('status'),
    reward_mode: view.get('mode'),
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  const programs = new Map(usePrograms().map((program) => [program.id, program]));
  const partner = view.get('partner');
  return (
    <>
      <FilterBar
        label="Filters of enrollments"
        names={FILTERS}
        search={<TextFilter name="search" label="Search" placeholder="User, email or name" />}
      >
        <ProgramFilter />
        <ChoiceFilter
          name="status"
          label="Status"
          choices={[
            { value: 'approved', label: 'Approved' },
            { value: 'suspended', label: 'Suspended' },
          ]}
        />
        <ChoiceFilter
          name="mode"
          label="Earns as"
          choices={[
            { value: 'referrer', label: 'Referrer' },
            { value: 'affiliate', label: 'Affiliate' },
          ]}
        />
      </FilterBar>
      <ListTab
        query={enrollments}
        items={({ enrollments }) => enrollments}
        table={TABLE}
        paged="enrollments"
        empty={
          <NoRows what="referrers" names={[...FILTERS, 'search']} example={EXAMPLE}>
            Add people by hand, import those of another program, or let your server enroll users. Users also
            become referrers when they open the embedded dashboard.
          </NoRows>
        }
        row={(enrollment) => (
          <Row
            key={enrollment.partner_id}
            enrollment={enrollment}
            program={programs.get(enrollment.program_id)}
          />
        )}
      />
      {partner && (
        <EnrollmentDrawer key={partner} partnerId={partner} close={() => view.set({ partner: null })} />
      )}
    </>
  );
}

function Row({ enrollment, program }: { enrollment: Enrollment; program: Program | undefined }) {
  const { currency } = useSession().workspace;
  const { totals, balances } = enrollment;
  const owed = Object.entries(balances.cash);
  return (
    <Table.Tr>
      <ReferrerCell referrer={enrollment} />
      <LongTextCell>{program?.name}</LongTextCell>
      <Table.Td>
        <EnrollmentStatus status={enrollment.status} />
      </Table.Td>
      <Table.Td>{enrollment.reward_mode === 'affiliate' ? 'Affiliate' : 'Referrer'}</Table.Td>
      <FigureCell>{formatCount(totals.clicks)}</FigureCell>
      <FigureCell>{formatCount(totals.signups)}</FigureCell>
      <FigureCell>{formatCount(totals.purchases)}</FigureCell>
      <FigureCell>{totalsText(totals.revenue, program?.currency ?? currency)}</FigureCell>
      <FigureCell>
        <Stack gap={0}>
          {owed.length === 0 && (program ? formatMoney(0, program.currency) : formatCount(0))}
          {owed.map(([currency, { pending, eligible }]) => (
            <span key={currency}>{formatMoney(pending + eligible, currency)}</span>
          ))}
        </Stack>
      </FigureCell>
    </Table.Tr>
  );
}
