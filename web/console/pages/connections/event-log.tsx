import { Button, Group, Select, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatInstant } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note, SmallNote } from '../../parts/note.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import { AssignDialog } from './assign-dialog.tsx';
import { EventBadge } from './badges.tsx';
import type { Connection, ConnectionEvent, EventStatus, Events } from './responses.ts';
import { reasonOf, STATUS_NAMES } from './words.ts';

const PAGE_SIZE = 25;
/** Refresh interval of the newest events. Milliseconds. */
const REFRESH = 3_000;

const CHOICES = [
  { value: '', label: 'All' },
  ...Object.entries(STATUS_NAMES).map(([value, label]) => ({ value, label })),
];
const STATUSES = Object.keys(STATUS_NAMES) as EventStatus[];

const TABLE = {
  label: 'Received events',
  isDouble: true,
  minWidth: 860,
  columns: ['Time', 'Event', 'Outcome', 'Order', ''],
};

/** Received events, newest first, with what became of each. */
export function EventLog({ connection }: { connection: Connection }) {
  const [search, change] = useUrlParameters();
  const status = STATUSES.find((one) => one === search.get('status')) ?? null;
  const cursor = search.get('cursor');
  const [assigned, assign] = useState<ConnectionEvent | null>(null);
  const events = useApi<Events>(
    `/connections/${connection.id}/events`,
    { status, cursor, limit: PAGE_SIZE },
    { every: () => (cursor === null ? REFRESH : false) },
  );
  return (
    <div>
      <Title order={2} size="h3">
        Received events
      </Title>
      <Note mb="sm">Refreshes automatically. Events are kept for 30 days.</Note>
      <FilterBar label="Filters of events" names={['status']}>
        <Select
          label="Outcome"
          size="xs"
          w={{ base: '100%', xs: 170 }}
          data={CHOICES}
          value={status ?? ''}
          onChange={(value) => change({ status: value, cursor: null })}
          allowDeselect={false}
        />
      </FilterBar>
      <ListTab
        query={events}
        items={({ events }) => events}
        table={TABLE}
        paged="events"
        empty={
          status === null ? (
            <EmptyState title="No events yet">The first event that arrives appears here.</EmptyState>
          ) : (
            <EmptyState title="No matching events">Choose another outcome.</EmptyState>
          )
        }
        row={(event) => (
          <Row key={event.id} connection={connection} event={event} assign={() => assign(event)} />
        )}
      />
      {assigned && (
        <AssignDialog
          connectionId={connection.id}
          eventId={assigned.event_id}
          orderId={assigned.order_id}
          close={() => assign(null)}
        />
      )}
    </div>
  );
}

function Row({
  connection,
  event,
  assign,
}: {
  connection: Connection;
  event: ConnectionEvent;
  assign: () => void;
}) {
  const { can } = useSession();
  const replay = useSend<void>(
    () => ({ path: `/connections/${connection.id}/events/${encodeURIComponent(event.event_id)}/replay` }),
    { refresh: ['/connections'], done: 'Event is processed again' },
  );
  const reason = reasonOf(event.reason);
  const mayAssign = event.status === 'unmatched' && event.order_id !== null;
  return (
    <Table.Tr>
      <Table.Td>{formatInstant(event.received_at)}</Table.Td>
      <Table.Td>
        <div>
          <Text size="sm">{event.type}</Text>
          <SmallNote style={{ overflowWrap: 'anywhere' }}>{event.event_id}</SmallNote>
        </div>
      </Table.Td>
      <Table.Td maw={280}>
        <div>
          <EventBadge status={event.status} />
          {reason && <SmallNote mt={4}>{reason}</SmallNote>}
        </div>
      </Table.Td>
      <Table.Td maw={200} style={{ overflowWrap: 'anywhere' }}>
        {event.order_id}
      </Table.Td>
      <Table.Td>
        {can('operator') && (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            {mayAssign && (
              <Button
                size="xs"
                variant="default"
                onClick={assign}
                aria-label={`Assign to referrer: ${event.event_id}`}
              >
                Assign to referrer
              </Button>
            )}
            <Button
              size="xs"
              variant="default"
              loading={replay.isPending}
              onClick={() => replay.mutate()}
              aria-label={`Replay ${event.event_id}`}
            >
              Replay
            </Button>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
