import { Select, Table, Text, Title } from '@mantine/core';
import { useApi } from '../../api/queries.ts';
import { formatCount, formatInstant, formatPlanned } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { Note } from '../../parts/note.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { useDeliveriesView } from './deliveries-view.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { DELIVERY_TYPES, eventName } from './events.ts';
import type { Deliveries, Delivery, DeliveryStatus, Webhook } from './responses.ts';
import { ResultBadge } from './result-badge.tsx';

const PAGE_SIZE = 25;
/** Refresh interval of the newest deliveries. Milliseconds. */
const REFRESH = 3_000;

const STATUS_NAMES: Record<DeliveryStatus, string> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
};
const STATUS_CHOICES = [
  { value: '', label: 'All' },
  ...Object.entries(STATUS_NAMES).map(([value, label]) => ({ value, label })),
];
const TYPE_CHOICES = [
  { value: '', label: 'All' },
  ...DELIVERY_TYPES.map((value) => ({ value, label: eventName(value) })),
];

const TABLE = {
  label: 'Deliveries',
  minWidth: 760,
  columns: ['Time', 'Event', 'Result', 'Response', { figure: 'Attempts' }, 'Next attempt'],
};

/** Deliveries of a webhook, newest first, with a drawer for details. */
export function DeliveryLog({ webhook }: { webhook: Webhook }) {
  const view = useDeliveriesView();
  const { status, type, cursor } = view;
  const deliveries = useApi<Deliveries>(
    `/webhooks/${webhook.id}/deliveries`,
    { status, type, cursor, limit: PAGE_SIZE },
    { every: () => (cursor === null ? REFRESH : false) },
  );
  const isFiltered = status !== null || type !== null;
  return (
    <div>
      <Title order={2} size="h3">
        Deliveries
      </Title>
      <Note mb="sm">
        Refreshes automatically. Deliveries are stored for 30 days; of delivered clicks, the newest 1,000.
      </Note>
      <FilterBar label="Filters of deliveries" names={['status', 'type']}>
        <Select
          label="Result"
          size="xs"
          w={{ base: '100%', xs: 170 }}
          data={STATUS_CHOICES}
          value={status ?? ''}
          onChange={(value) => view.filter('status', value)}
          allowDeselect={false}
        />
        <Select
          label="Event"
          size="xs"
          w={{ base: '100%', xs: 170 }}
          data={TYPE_CHOICES}
          value={type ?? ''}
          onChange={(value) => view.filter('type', value)}
          allowDeselect={false}
        />
      </FilterBar>
      <ListTab
        query={deliveries}
        items={({ deliveries }) => deliveries}
        table={TABLE}
        paged="deliveries"
        empty={
          isFiltered ? (
            <EmptyState title="No matching deliveries">Choose another result or event.</EmptyState>
          ) : (
            <EmptyState title="No deliveries yet">
              Every event that this webhook subscribes to appears here. A test event shows at once whether
              your server takes messages.
            </EmptyState>
          )
        }
        row={(delivery) => <Row key={delivery.id} delivery={delivery} open={() => view.open(delivery.id)} />}
      />
      {view.delivery !== null && (
        <DeliveryDrawer
          key={view.delivery}
          webhook={webhook}
          id={view.delivery}
          close={() => view.open(null)}
        />
      )}
    </div>
  );
}

function Row({ delivery, open }: { delivery: Delivery; open: () => void }) {
  const { response_status: answered, error, next_attempt_at: next } = delivery;
  const answer = answered === null ? (error ?? '') : String(answered);
  return (
    <Table.Tr>
      <Table.Td>
        <TextPress onClick={open}>{formatInstant(delivery.created_at)}</TextPress>
      </Table.Td>
      <Table.Td>{eventName(delivery.type)}</Table.Td>
      <Table.Td>
        <ResultBadge status={delivery.status} attempts={delivery.attempts} />
      </Table.Td>
      <Table.Td maw={200}>
        <Text size="sm" truncate title={answer}>
          {answer}
        </Text>
      </Table.Td>
      <Table.Td ta="end">{formatCount(delivery.attempts)}</Table.Td>
      <Table.Td title={next ? formatInstant(next) : undefined}>
        {next && delivery.attempts > 0 ? formatPlanned(next) : ''}
      </Table.Td>
    </Table.Tr>
  );
}
