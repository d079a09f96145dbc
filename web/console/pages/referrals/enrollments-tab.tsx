import { Select, Table } from '@mantine/core';
import {
  type EnrollmentSort,
  ENROLLMENT_SORTS as SORTS,
} from '../../../../core/referrals/enrollment-sorts.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ColumnsButton } from '../../parts/columns-button.tsx';
import { CsvDownload } from '../../parts/csv-download.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import type { SortColumn } from '../../parts/sort-heading.tsx';
import { useEnrollmentColumns } from './enrollment-columns.tsx';
import { EnrollmentDrawer } from './enrollment-drawer.tsx';
import { ChoiceFilter, NoRows, ProgramFilter, TextFilter, useGroups, usePrograms } from './filters.tsx';
import { ReferrerCell } from './referrer-cell.tsx';
import type { Enrollments } from './responses.ts';
import { useViewState } from './view-state.ts';

const PAGE = 50;
/** What the list looks like with data. */
const EXAMPLE = [
  ['Ada Lovelace', '9 signups', '$920.00', '$184.00 owed'],
  ['Grace Hopper', '6 signups', '$487.50', '$97.50 owed'],
];
/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['program', 'group', 'status', 'mode'];
/** What the list can be sorted by where headings are not shown. */
const SORT_CHOICES: { value: EnrollmentSort; label: string }[] = [
  { value: 'created', label: 'Newest' },
  { value: 'name', label: 'Name' },
  { value: 'clicks', label: 'Clicks' },
  { value: 'signups', label: 'Signups' },
  { value: 'purchases', label: 'Purchases' },
  { value: 'revenue', label: 'Revenue' },
  { value: 'epc', label: 'EPC' },
  { value: 'average_lifetime_value', label: 'Average LTV' },
  { value: 'owed', label: 'Owed' },
];

/** Referrers with totals and status. Headings sort, and columns are chosen. */
export function EnrollmentsTab() {
  const view = useViewState();
  const { currency } = useSession().workspace;
  const order = useSort();
  const filter = {
    search: view.get('search'),
    program_id: view.get('program'),
    status: view.get('status'),
    reward_mode: view.get('mode'),
    group_id: view.get('group'),
  };
  const place = view.get('cursor');
  const enrollments = useApi<Enrollments>('/enrollments', {
    ...filter,
    ...(order.isNewest ? { cursor: place } : { sort: order.sort, order: order.order, offset: place }),
    limit: PAGE,
  });
  const all = usePrograms();
  const programs = new Map(all.map((program) => [program.id, program]));
  const columns = useEnrollmentColumns(all.length > 1);
  const groups = useGroups();
  const partner = view.get('partner');
  const table = {
    label: 'Enrollments',
    isDouble: true,
    minWidth: 240 + 92 * columns.shown.length,
    columns: [
      order.column('name', 'Referrer', false),
      ...columns.shown.map(({ name, sort, isFigure = false }) =>
        sort ? order.column(sort, name, isFigure) : name,
      ),
    ],
  };
  return (
    <>
      <FilterBar
        label="Filters of enrollments"
        names={FILTERS}
        search={<TextFilter name="search" label="Search" placeholder="User, email or name" />}
        actions={
          <>
            <CsvDownload path="/enrollments" query={filter} name="referrers" />
            <ColumnsButton columns={columns} />
          </>
        }
      >
        <ProgramFilter />
        {groups.length > 0 && (
          <ChoiceFilter
            name="group"
            label="Group"
            choices={groups.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
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
        <Select
          label="Sort by"
          size="xs"
          w={{ base: '100%', xs: 170 }}
          hiddenFrom="md"
          data={SORT_CHOICES}
          value={order.sort}
          onChange={(value) => order.choose(SORTS.find((one) => one === value) ?? 'created')}
          allowDeselect={false}
        />
      </FilterBar>
      <ListTab
        query={enrollments}
        items={({ enrollments }) => enrollments}
        table={table}
        paged="enrollments"
        isSorted={!order.isNewest}
        empty={
          <NoRows what="referrers" names={[...FILTERS, 'search']} example={EXAMPLE}>
            Add people by hand, import those of another program, or let your server enroll users. Users also
            become referrers when they open the embedded dashboard.
          </NoRows>
        }
        row={(enrollment) => (
          <Table.Tr key={enrollment.partner_id}>
            <ReferrerCell referrer={enrollment} />
            {columns.shown.map(({ key, isFigure = false, cell }) => {
              const context = { program: programs.get(enrollment.program_id), currency };
              const Cell = isFigure ? FigureCell : key === 'program' ? LongTextCell : Table.Td;
              return <Cell key={key}>{cell(enrollment, context)}</Cell>;
            })}
          </Table.Tr>
        )}
      />
      {partner && (
        <EnrollmentDrawer key={partner} partnerId={partner} close={() => view.set({ partner: null })} />
      )}
    </>
  );
}

/** The order of the list, in the URL as `sort` and `order`. Newest first by default. */
function useSort() {
  const view = useViewState();
  const sort = SORTS.find((one) => one === view.get('sort')) ?? 'created';
  const usual = (one: EnrollmentSort) => (one === 'name' ? 'asc' : 'desc');
  const order = view.get('order') === 'asc' || view.get('order') === 'desc' ? view.get('order') : usual(sort);
  const choose = (by: EnrollmentSort, direction: string | null = usual(by)) =>
    view.set({
      sort: by === 'created' ? null : by,
      order: direction === usual(by) ? null : direction,
    });
  return {
    sort,
    order,
    isNewest: sort === 'created' && order === 'desc',
    choose,
    column: (by: EnrollmentSort, name: string, isFigure: boolean): SortColumn => ({
      name,
      isFigure,
      sorted: by !== sort ? null : order === 'desc' ? 'descending' : 'ascending',
      // The first press sorts names ascending and everything else descending; the next reverses it.
      press: () => choose(by, by !== sort ? usual(by) : order === 'desc' ? 'asc' : 'desc'),
    }),
  };
}
