import { Button, Group, Table } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatInstant } from '../../formats.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { GuideContext } from '../../parts/guide.ts';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { AlertDialog } from './alert-dialog.tsx';
import { type Alert, type Alerts, conditionWords } from './alert-draft.ts';
import { PauseDelete } from './pause-delete.tsx';
import { Recipients } from './recipient-items.tsx';

const TABLE = {
  label: 'Alerts',
  minWidth: 860,
  columns: ['Alert', 'Condition', 'Recipients', 'State', 'Actions'],
};
/** All alerts that a workspace may have. */
const ALL = 100;
/** Refresh interval. Milliseconds. */
const REFRESH = 30_000;

/** What the list will look like. */
const EXAMPLE = [
  ['Autumn sale', 'Clicks over 500 in 24 hours', 'Fine'],
  ['Newsletter', 'No clicks in 6 hours', 'Firing'],
];

/** Figures of views that are watched, and what they found. Operators only. */
export function AlertList() {
  const { urls } = useSession();
  const alerts = useApi<Alerts>('/alerts', { limit: ALL }, { every: REFRESH });
  const [edited, setEdited] = useState<Alert | 'new' | null>(null);
  const [past, setPast] = useState<Alert | null>(null);
  return (
    <Section
      title="Alerts"
      about="An alert tells its recipients when a figure of a view changes, and when that ends. It is checked each hour."
      action={<Button onClick={() => setEdited('new')}>New alert</Button>}
    >
      <ListTab
        query={alerts}
        items={({ alerts: list }) => list}
        table={TABLE}
        empty={
          <GuideContext value={`${urls.base_url}/docs/alerts`}>
            <EmptyState title="No alerts yet" example={EXAMPLE}>
              You learn within the hour that a campaign takes off, or that its clicks stopped.
            </EmptyState>
          </GuideContext>
        }
        row={(alert) => (
          <Row key={alert.id} alert={alert} edit={() => setEdited(alert)} show={() => setPast(alert)} />
        )}
      />
      {edited !== null && (
        <AlertDialog alert={edited === 'new' ? null : edited} close={() => setEdited(null)} />
      )}
      {past !== null && <History alert={past} close={() => setPast(null)} />}
    </Section>
  );
}

function Row({ alert, edit, show }: { alert: Alert; edit: () => void; show: () => void }) {
  const { id, name, condition, recipients, is_active, state, since, error } = alert;
  return (
    <Table.Tr>
      <Table.Td maw={240}>
        <TextPress onClick={edit}>{name}</TextPress>
      </Table.Td>
      <Table.Td maw={240}>{conditionWords(condition)}</Table.Td>
      <Table.Td maw={260}>
        <Recipients of={name} recipients={recipients} />
      </Table.Td>
      <Table.Td maw={220}>
        <StateBadge alert={alert} />
        {error !== null && <SmallNote>{error}</SmallNote>}
        {is_active && state === 'firing' && (
          <SmallNote title={formatInstant(since)}>Since {formatAgo(since)}</SmallNote>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap={6} wrap="nowrap">
          <Button size="xs" variant="default" aria-label={`History of ${name}`} onClick={show}>
            History
          </Button>
          <PauseDelete
            kind="alert"
            id={id}
            name={name}
            isActive={is_active}
            consequence="Its history goes with it."
          />
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function StateBadge({ alert: { is_active, state, error } }: { alert: Alert }) {
  if (!is_active) return <StatusBadge sign="paused">Paused</StatusBadge>;
  if (error !== null) return <StatusBadge sign="bad">Failing</StatusBadge>;
  return state === 'firing' ? (
    <StatusBadge sign="bad">Firing</StatusBadge>
  ) : (
    <StatusBadge sign="good">Fine</StatusBadge>
  );
}

function History({ alert: { id, name }, close }: { alert: Alert; close: () => void }) {
  const history = useApi<ResponseOf<'/alerts/{id}/history'>>(`/alerts/${id}/history`);
  return (
    <Dialog title={`History of ${name}`} close={close}>
      <QueryView query={history} lines={3}>
        {({ history: changes }) =>
          changes.length === 0 ? (
            <Note>Nothing yet: it has not fired.</Note>
          ) : (
            <ul className="plain-list">
              {changes.map((one) => (
                <li key={one.id}>
                  {formatInstant(one.at)}: {one.state === 'firing' ? 'started' : 'ended'}, at{' '}
                  {one.value ?? '–'}
                  {one.expected !== null && `, usual ${Math.round(one.expected * 100) / 100}`}
                  {!one.is_told && ', not told'}
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Dialog>
  );
}
