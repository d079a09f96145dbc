import { Alert, Button, Drawer, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { sentence } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatInstant, formatPlanned } from '../../formats.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { eventName } from './events.ts';
import { prettyJson } from './pretty-json.ts';
import type { DeliveryDetail, Webhook } from './responses.ts';
import { ResultBadge } from './result-badge.tsx';

/** Refresh interval of a pending delivery. Milliseconds. */
const REFRESH = 1_500;
/** Maximum stored characters of a response. */
const KEPT = 65_536;

type Props = { webhook: Webhook; id: string; close: () => void };

/** A delivery: status, request and response. */
export function DeliveryDrawer({ webhook, id, close }: Props) {
  useFocusBack();
  const path = `/webhooks/${webhook.id}/deliveries/${encodeURIComponent(id)}`;
  const delivery = useApi<DeliveryDetail>(
    path,
    {},
    { every: (last) => (last?.status === 'pending' ? REFRESH : false) },
  );
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="xl"
      title={delivery.data ? `Delivery: ${eventName(delivery.data.type)}` : 'Delivery'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryView query={delivery} lines={10}>
        {(data) => (
          <Stack gap="lg">
            <Group justify="space-between">
              <span role="status">
                <ResultBadge status={data.status} attempts={data.attempts} />
              </span>
              <Redeliver webhook={webhook} path={path} />
            </Group>
            <Facts delivery={data} />
            <Request delivery={data} />
            <Response delivery={data} />
          </Stack>
        )}
      </QueryView>
    </Drawer>
  );
}

function Redeliver({ webhook, path }: { webhook: Webhook; path: string }) {
  const { can } = useSession();
  const again = useSend<void>(() => ({ path: `${path}/redeliver` }), {
    refresh: ['/webhooks'],
    done: 'Delivery queued',
  });
  if (!can('operator')) return null;
  if (!webhook.is_active) return <Text size="sm">To redeliver, enable the webhook.</Text>;
  return (
    <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
      Redeliver
    </Button>
  );
}

function Facts({ delivery }: { delivery: DeliveryDetail }) {
  const { attempts, next_attempt_at: next, delivered_at: delivered, error } = delivery;
  const sent = sentAt(delivery);
  const facts: [string, string | null][] = [
    ['Event', delivery.event_id],
    ['Happened', formatInstant(delivery.created_at)],
    ['Attempts', formatCount(attempts)],
    ['Last attempt', sent && formatInstant(sent)],
    ['Delivered', delivered && formatInstant(delivered)],
    ['Next attempt', attempts > 0 && next ? `${formatPlanned(next)} (${formatInstant(next)})` : null],
  ];
  return (
    <Stack gap="sm">
      {error !== null && delivery.status !== 'delivered' && (
        <Alert color="red" variant="outline" title="The last attempt failed">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {sentence(error)}
          </Text>
        </Alert>
      )}
      <FactTable label="Delivery details" facts={facts} />
    </Stack>
  );
}

/** Time of the last attempt, from its signature header, which has seconds since the epoch. */
function sentAt({ request }: DeliveryDetail): string | null {
  const seconds = Number(request.headers?.['webhook-timestamp']);
  return Number.isInteger(seconds) && seconds > 0 ? new Date(seconds * 1_000).toISOString() : null;
}

function Request({ delivery: { request } }: { delivery: DeliveryDetail }) {
  return (
    <Part title="Request">
      {request.url === null ? (
        <Text size="sm">Nothing has been sent yet. This is the request:</Text>
      ) : (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <b>{request.body === '' ? 'GET' : 'POST'}</b> {request.url}
        </Text>
      )}
      {request.headers && (
        <FactTable label="Headers of the request" facts={Object.entries(request.headers)} />
      )}
      {request.body !== '' && (
        <CodeBlock label="Body of the request" code={prettyJson(request.body)} copied={request.body} wrap />
      )}
    </Part>
  );
}

function Response({ delivery }: { delivery: DeliveryDetail }) {
  const { response_status: status, response_body: body, attempts } = delivery;
  return (
    <Part title="Response">
      {status === null ? (
        <Text size="sm">{attempts === 0 ? 'Not sent yet.' : 'No response.'}</Text>
      ) : (
        <Text size="sm">
          Status <b>{status}</b>
        </Text>
      )}
      {body === '' && <Text size="sm">The response has no body.</Text>}
      {body !== null && body !== '' && (
        <>
          <CodeBlock label="Body of the response" code={prettyJson(body)} copied={body} wrap />
          {body.length >= KEPT && <Note>Only the beginning is stored.</Note>}
        </>
      )}
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="sm" aria-label={title}>
      <Title order={3} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function FactTable({ label, facts }: { label: string; facts: [string, string | null][] }) {
  return (
    <Table layout="fixed" aria-label={label}>
      <Table.Tbody>
        {facts.map(
          ([name, value]) =>
            value && (
              <Table.Tr key={name}>
                <Table.Th scope="row" w={{ base: 120, xs: 190 }} style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ),
        )}
      </Table.Tbody>
    </Table>
  );
}
