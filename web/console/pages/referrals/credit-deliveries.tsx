import { Button, Table, Text, Title } from '@mantine/core';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatExact, formatInstant, formatPlanned } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ChoiceFilter } from './filters.tsx';
import type { CreditDelivery, CreditDeliveries as Deliveries, Fulfilment } from './responses.ts';
import { useViewState } from './view-state.ts';

const PAGE_SIZE = 25;
/** Refresh interval of the newest deliveries. Milliseconds. */
const REFRESH = 3_000;

const STATUS_CHOICES = [
  { value: 'pending', label: 'Pending' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'canceled', label: 'Canceled' },
];

const TABLE = {
  label: 'Deliveries',
  minWidth: 820,
  columns: ['Time', 'User', { figure: 'Credits' }, 'State', { figure: 'Attempts' }, 'Response', ''],
};

/** Deliveries of a fulfilment with their state, newest credit first. A failed or waiting one can be delivered now. */
export function CreditDeliveries({ fulfilment }: { fulfilment: Fulfilment }) {
  const view = useViewState();
  const status = view.get('status') ?? undefined;
  const cursor = useCursor();
  const path = `/fulfilments/${fulfilment.id}/deliveries`;
  const deliveries = useApi<Deliveries>(
    path,
    { status, cursor, limit: PAGE_SIZE },
    { every: () => (cursor === undefined ? REFRESH : false) },
  );
  return (
    <div>
      <Title order={2} size="h3" mb="sm">
        Deliveries
      </Title>
      <FilterBar label="Filters of deliveries" names={['status']}>
        <ChoiceFilter name="status" label="State" choices={STATUS_CHOICES} />
      </FilterBar>
      <ListTab
        query={deliveries}
        items={({ deliveries }) => deliveries}
        table={TABLE}
        paged="deliveries"
        empty={
          status ? (
            <EmptyState title="No matching deliveries">Choose another state.</EmptyState>
          ) : (
            <EmptyState title="No deliveries yet">The next credit of the program appears here.</EmptyState>
          )
        }
        row={(delivery) => <Row key={delivery.id} delivery={delivery} path={path} />}
      />
    </div>
  );
}

function Row({ delivery, path }: { delivery: CreditDelivery; path: string }) {
  const { can } = useSession();
  const { status, error, reference, next_attempt_at: next } = delivery;
  const retry = useSend<void>(() => ({ path: `${path}/${delivery.id}/retry` }), {
    refresh: ['/referrals', '/fulfilments'],
    done: 'The credit is delivered now',
  });
  const isOpen = status === 'failed' || (status === 'pending' && delivery.attempts > 0);
  const answer = reference ?? error ?? '';
  return (
    <Table.Tr>
      <Table.Td>{formatInstant(delivery.created_at)}</Table.Td>
      <Table.Td maw={180}>
        <Text size="sm" truncate dir="auto" title={delivery.external_user_id}>
          {delivery.external_user_id}
        </Text>
      </Table.Td>
      <Table.Td ta="end">{formatExact(delivery.amount)}</Table.Td>
      <Table.Td>
        <StateBadge delivery={delivery} />
        {next && delivery.attempts > 0 && (
          <SmallNote title={formatInstant(next)}>Next attempt {formatPlanned(next)}</SmallNote>
        )}
      </Table.Td>
      <Table.Td ta="end">{formatCount(delivery.attempts)}</Table.Td>
      <Table.Td maw={260}>
        <Text size="sm" truncate title={answer}>
          {answer}
        </Text>
      </Table.Td>
      <Table.Td>
        {isOpen && can('operator') && (
          <Button
            variant="default"
            size="xs"
            loading={retry.isPending}
            onClick={() => retry.mutate()}
            aria-label={`Deliver now: credit ${delivery.credit_id}`}
          >
            Deliver now
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function StateBadge({ delivery: { status, attempts } }: { delivery: CreditDelivery }) {
  if (status === 'delivered') return <StatusBadge sign="good">Delivered</StatusBadge>;
  if (status === 'failed') return <StatusBadge sign="bad">Failed</StatusBadge>;
  if (status === 'canceled') return <StatusBadge sign="paused">Canceled</StatusBadge>;
  return <StatusBadge sign="waiting">{attempts === 0 ? 'Pending' : 'Retrying'}</StatusBadge>;
}
