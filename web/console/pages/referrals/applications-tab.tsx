import { Group, Stack, Table } from '@mantine/core';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ApproveApplication, CHANGED_BY_DECISION } from './approve-application.tsx';
import { ChoiceFilter, NoRows, ProgramFilter, usePrograms } from './filters.tsx';
import { ReferrerPress } from './referrer-press.tsx';
import type { Application, Applications } from './responses.ts';
import { useViewState } from './view-state.ts';

const PAGE = 50;
const FILTERS = ['program', 'decision'];
const TABLE = {
  label: 'Applications',
  isDouble: true,
  minWidth: 720,
  columns: ['Applicant', 'Answers', 'State', 'Applied'],
};

/** Who applied to a program in its portal, and the decision. */
export function ApplicationsTab() {
  const view = useViewState();
  const programs = usePrograms();
  const applications = useApi<Applications>('/applications', {
    program_id: view.get('program'),
    status: view.get('decision'),
    cursor: view.get('cursor'),
    limit: PAGE,
  });
  return (
    <>
      <FilterBar label="Filters of applications" names={FILTERS}>
        <ProgramFilter />
        <ChoiceFilter
          name="decision"
          label="State"
          choices={[
            { value: 'pending', label: 'To decide' },
            { value: 'approved', label: 'Approved' },
            { value: 'rejected', label: 'Rejected' },
          ]}
        />
      </FilterBar>
      <ListTab
        query={applications}
        items={({ applications }) => applications}
        table={TABLE}
        paged="applications"
        empty={
          <NoRows what="applications" names={FILTERS}>
            People apply on the page of a program. Open it under Program, Portal.
          </NoRows>
        }
        row={(application) => {
          const program = programs.find(({ id }) => id === application.program_id);
          const labels = new Map(program?.portal.fields.map(({ name, label }) => [name, label]));
          return (
            <Table.Tr key={application.id}>
              <LongTextCell>
                {application.name}
                <SmallNote>{application.email}</SmallNote>
                {programs.length > 1 && <SmallNote>{program?.name}</SmallNote>}
              </LongTextCell>
              <LongTextCell>
                <Stack gap={4}>
                  {Object.entries(application.answers).map(([name, answer]) => (
                    <div key={name} style={{ overflowWrap: 'anywhere' }}>
                      <SmallNote>{labels.get(name) ?? name}</SmallNote>
                      {answer}
                    </div>
                  ))}
                  {application.terms_version !== null && (
                    <SmallNote>Accepted the terms, version {application.terms_version}</SmallNote>
                  )}
                </Stack>
              </LongTextCell>
              <Table.Td>
                <Decision application={application} />
              </Table.Td>
              <Table.Td>{formatInstant(application.created_at)}</Table.Td>
            </Table.Tr>
          );
        }}
      />
    </>
  );
}

function Decision({ application }: { application: Application }) {
  const { status, partner_id, referral_link } = application;
  if (status === 'approved')
    return (
      <>
        <StatusBadge sign="good">Approved</StatusBadge>
        {partner_id !== null && (
          <div>
            <ReferrerPress id={partner_id}>{application.name}</ReferrerPress>
          </div>
        )}
        {referral_link !== null && (
          <Group gap={4} wrap="nowrap">
            <SmallNote style={{ overflowWrap: 'anywhere' }}>{referral_link}</SmallNote>
            <CopyButton value={referral_link} what={`the link of ${application.name}`} />
          </Group>
        )}
      </>
    );
  return (
    <>
      <StatusBadge sign={status === 'pending' ? 'paused' : 'bad'}>
        {status === 'pending' ? 'To decide' : 'Rejected'}
      </StatusBadge>
      <Buttons application={application} />
    </>
  );
}

function Buttons({ application }: { application: Application }) {
  const { id, name, status } = application;
  const { can } = useSession();
  const reject = useSend<void>(() => ({ path: `/applications/${id}/reject` }), {
    refresh: CHANGED_BY_DECISION,
    done: `${name} rejected`,
  });
  if (!can('operator')) return null;
  return (
    <Group gap="xs" mt={4} wrap="nowrap">
      <ApproveApplication application={application} />
      {status === 'pending' && (
        <ConfirmButton
          size="compact-xs"
          aria-label={`Reject ${name}`}
          question={`Reject the application of ${name}?`}
          consequence="They get a mail, and can't apply again with this address. You can still approve them later."
          yes="Reject"
          pending={reject.isPending}
          onConfirm={() => reject.mutateAsync()}
        >
          Reject
        </ConfirmButton>
      )}
    </Group>
  );
}
