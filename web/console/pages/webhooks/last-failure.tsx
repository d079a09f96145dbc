import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useApi } from '../../api/queries.ts';
import { formatAgo, formatInstant, formatPlanned } from '../../formats.ts';
import { Note } from '../../parts/note.tsx';
import { TextPress } from '../../parts/text-press.tsx';
import { useDeliveriesView } from './deliveries-view.ts';
import { eventName } from './events.ts';
import { failureWords } from './failure-words.ts';
import type { Deliveries, Delivery, ShownWebhook } from './responses.ts';

/** Refresh interval. Milliseconds. */
const REFRESH = 3_000;
/** Pending deliveries to read. On a busy webhook, most of them were not tried yet. */
const LOOKED_AT = 25;

/** The newest delivery that failed: what failed, when, why in words, and what to do. */
export function LastFailure({ webhook }: { webhook: ShownWebhook }) {
  const view = useDeliveriesView();
  const path = `/webhooks/${webhook.id}/deliveries`;
  const every = { every: REFRESH };
  const failed = useApi<Deliveries>(path, { status: 'failed', limit: 1 }, every);
  const retrying = useApi<Deliveries>(path, { status: 'pending', limit: LOOKED_AT }, every);
  const last = newest([...(failed.data?.deliveries ?? []), ...(retrying.data?.deliveries ?? [])]);
  if (!last) return null;
  const { what, advice } = failureWords(last);
  const newestOne = webhook.last_delivery;
  const isOver = newestOne?.status === 'delivered' && newestOne.created_at > last.created_at;
  return (
    <Alert
      color={isOver ? 'gray' : 'red'}
      variant="outline"
      icon={<IconAlertTriangle />}
      title={isOver ? 'Last failure; later messages arrived' : 'Last failure'}
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {what} {advice}
      </Text>
      <Note title={formatInstant(last.created_at)}>
        {eventName(last.type)}, {formatAgo(last.created_at)}. {nextAttempt(last)}
        <TextPress onClick={() => view.open(last.id)}>Show the delivery</TextPress>
      </Note>
    </Alert>
  );
}

/** The next attempt of a delivery as a sentence; empty when there is none. */
function nextAttempt({ next_attempt_at: next }: Delivery): string {
  if (next === null) return '';
  return `The next attempt is ${formatPlanned(next)}. `;
}

function newest(deliveries: readonly Delivery[]): Delivery | null {
  return deliveries
    .filter(({ error }) => error !== null)
    .reduce<Delivery | null>((last, one) => (last && last.created_at > one.created_at ? last : one), null);
}
