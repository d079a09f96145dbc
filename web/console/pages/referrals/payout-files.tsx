import { Group, Table, Title } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatInstant } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { FigureCell, LongTextCell } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { CancelPayoutButton } from './cancel-payout-button.tsx';
import { ChoiceFilter, NoRows, usePrograms } from './filters.tsx';
import { MarkPaidButton } from './mark-paid-button.tsx';
import { PayoutLines } from './payout-lines.tsx';
import type { PayoutFiles as Files, PayoutFile } from './responses.ts';
import { useViewState } from './view-state.ts';
import { totalsText } from './words.ts';

const PAGE = 20;

/** Parameters of the URL that the filter bar sets. */
const FILTERS = ['state'];
const TABLE = {
  label: 'All payout files',
  isDouble: true,
  minWidth: 800,
  columns: ['Created', 'Program', { figure: 'Referrers' }, { figure: 'Total' }, 'Status'],
};

/** Payout files with their totals and status. */
export function PayoutFiles() {
  const view = useViewState();
  const { can } = useSession();
  const names = new Map(usePrograms().map(({ id, name }) => [id, name]));
  const files = useApi<Files>('/payouts', {
    status: view.get('state'),
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  const shown = view.get('file');
  return (
    <section aria-labelledby="files">
      <Title order={2} size="h4" id="files" mb="sm">
        Payout files
      </Title>
      <FilterBar label="Filters of payout files" names={FILTERS}>
        <ChoiceFilter
          name="state"
          label="Status"
          choices={[
            { value: 'open', label: 'Open' },
            { value: 'paid', label: 'Paid' },
            { value: 'canceled', label: 'Canceled' },
          ]}
        />
      </FilterBar>
      <ListTab
        query={files}
        items={({ payouts }) => payouts}
        table={TABLE}
        paged="payout files"
        empty={
          <NoRows what="payout files" names={FILTERS}>
            {can('operator')
              ? 'Download one once balances are ready to pay.'
              : 'Operators of the workspace download them.'}
          </NoRows>
        }
        row={(file) => (
          <Row
            key={file.export_id}
            file={file}
            program={file.program_id === null ? 'All' : (names.get(file.program_id) ?? '')}
          />
        )}
      />
      {shown && (
        <PayoutLines
          key={shown}
          exportId={shown}
          canceled={files.data?.payouts.find((file) => file.export_id === shown)?.canceled_at != null}
          close={() => view.set({ file: null })}
        />
      )}
    </section>
  );
}

function Row({ file, program }: { file: PayoutFile; program: string }) {
  const { currency } = useSession().workspace;
  const view = useViewState();
  return (
    <Table.Tr>
      <Table.Td>
        <TextPress onClick={() => view.set({ file: file.export_id })} title="Payout lines">
          {formatInstant(file.created_at)}
        </TextPress>
        <SmallNote>{file.export_id}</SmallNote>
      </Table.Td>
      <LongTextCell>{program}</LongTextCell>
      <FigureCell>{formatCount(file.referrers)}</FigureCell>
      <FigureCell>{totalsText(file.totals, currency)}</FigureCell>
      <Table.Td>
        <FileStatus file={file} />
      </Table.Td>
    </Table.Tr>
  );
}

function FileStatus({ file }: { file: PayoutFile }) {
  if (file.status === 'open') {
    return (
      <Group gap="xs">
        <StatusBadge sign="waiting">Open</StatusBadge>
        <MarkPaidButton file={file} />
        <CancelPayoutButton file={file} />
      </Group>
    );
  }
  const isPaid = file.status === 'paid';
  return (
    <>
      <StatusBadge sign={isPaid ? 'good' : 'paused'}>{isPaid ? 'Paid' : 'Canceled'}</StatusBadge>
      <SmallNote>
        {[file.paid_at, file.canceled_at].filter((at) => at !== null).map(formatInstant)[0]}
      </SmallNote>
    </>
  );
}
