import { Button, Group, Table } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatInstant, formatInstantIn } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { AlertList } from './alert-list.tsx';
import { PauseDelete } from './pause-delete.tsx';
import { Recipients } from './recipient-items.tsx';
import { ReportDialog } from './report-dialog.tsx';
import { type Report, type Reports, scheduleWords } from './report-draft.ts';
import { unsavedView } from './view-field.tsx';

const PAGE_SIZE = 50;
/** Refresh interval: a report that was requested is sent within seconds. Milliseconds. */
const REFRESH = 5_000;

/** What the page looks like with data. */
const EXAMPLE = [
  ['All links, each Monday', 'Mondays at 08:00', 'to 3 recipients'],
  ['Newsletter', 'Each month on day 1', 'to Slack'],
];

const TABLE = {
  label: 'Reports',
  minWidth: 860,
  columns: ['Report', 'When', 'Recipients', 'State', 'Actions'],
};

/** Views that are sent on a schedule. The parameter `view` begins a report of that view. */
export default function ReportsPage() {
  const { can } = useSession();
  const mayChange = can('operator');
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('view');
  const [edited, setEdited] = useState<Report | 'new' | null>(null);
  const reports = useApi<Reports>(
    mayChange ? '/reports' : null,
    { limit: PAGE_SIZE, cursor: useCursor() },
    { every: REFRESH },
  );
  const views = useApi<ResponseOf<'/saved-views'>>(wanted === null ? null : '/saved-views', { limit: 500 });
  const view = views.data?.saved_views.find(({ id }) => id === wanted);
  const close = () => {
    setEdited(null);
    if (wanted !== null) setSearch(new URLSearchParams(), { replace: true });
  };
  const empty = (
    <EmptyState title="No reports yet" example={EXAMPLE}>
      A report sends a saved view each day, week, or month: by mail, and to Slack or Discord.
      {!mayChange && ' Operators of the workspace manage reports.'}
    </EmptyState>
  );
  return (
    <>
      <PageHeader title="Reports" isBar>
        {mayChange && <Button onClick={() => setEdited('new')}>New report</Button>}
      </PageHeader>
      {mayChange ? (
        <ListTab
          query={reports}
          items={({ reports: list }) => list}
          table={TABLE}
          paged="reports"
          empty={empty}
          row={(report) => <Row key={report.id} report={report} edit={() => setEdited(report)} />}
        />
      ) : (
        empty
      )}
      {mayChange && <AlertList />}
      {edited !== null && <ReportDialog report={edited === 'new' ? null : edited} close={close} />}
      {edited === null && view && mayChange && <ReportDialog report={null} view={view} close={close} />}
    </>
  );
}

function Row({ report, edit }: { report: Report; edit: () => void }) {
  const { id, name, schedule, recipients, is_active, next_at, last_sent_at } = report;
  return (
    <Table.Tr>
      <Table.Td maw={240}>
        <TextPress onClick={edit}>{name}</TextPress>
        {report.saved_view_id === null && <SmallNote>{unsavedView(report)}</SmallNote>}
      </Table.Td>
      <Table.Td>
        {scheduleWords(schedule)}
        <SmallNote>{schedule.time_zone}</SmallNote>
      </Table.Td>
      <Table.Td maw={260}>
        <Recipients of={name} recipients={recipients} />
      </Table.Td>
      <Table.Td maw={220}>
        <StateBadge report={report} />
        {report.error !== null && <SmallNote>{report.error}</SmallNote>}
        {is_active && next_at !== null && (
          <SmallNote title={formatInstant(next_at)}>
            Next {formatInstantIn(next_at, schedule.time_zone)}
          </SmallNote>
        )}
        {last_sent_at !== null && (
          <SmallNote title={formatInstant(last_sent_at)}>Sent {formatAgo(last_sent_at)}</SmallNote>
        )}
      </Table.Td>
      <Table.Td>
        <Actions id={id} name={name} isActive={is_active} />
      </Table.Td>
    </Table.Tr>
  );
}

function StateBadge({ report: { is_active, error } }: { report: Report }) {
  if (error !== null) return <StatusBadge sign="bad">Failing</StatusBadge>;
  return is_active ? (
    <StatusBadge sign="good">Active</StatusBadge>
  ) : (
    <StatusBadge sign="paused">Paused</StatusBadge>
  );
}

function Actions({ id, name, isActive }: { id: string; name: string; isActive: boolean }) {
  const send = useSend<void>(() => ({ path: `/reports/${id}/send-now`, body: {} }), {
    refresh: ['/reports'],
    done: `${name} is being sent`,
  });
  return (
    <Group gap={6} wrap="nowrap">
      <Button
        size="xs"
        variant="default"
        aria-label={`Send now: ${name}`}
        loading={send.isPending}
        onClick={() => send.mutate()}
      >
        Send now
      </Button>
      <PauseDelete
        kind="report"
        id={id}
        name={name}
        isActive={isActive}
        consequence="Its recipients get no more of it."
      />
    </Group>
  );
}
