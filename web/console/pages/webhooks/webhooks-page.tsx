import { Anchor, Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatDate, formatInstant } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { eventNames } from './events.ts';
import type { ShownWebhook, Webhooks } from './responses.ts';
import { ResultBadge, StateBadge } from './result-badge.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';

/** What the page looks like with data. */
const EXAMPLE = [
  ['https://shop.example/hooks', 'sale.created', 'responded with 200'],
  ['https://shop.example/clicks', 'click.created', 'responded with 204'],
];

const PAGE_SIZE = 50;
/** Refresh interval of the list. Milliseconds. */
const REFRESH = 10_000;

const TABLE = {
  label: 'Webhooks',
  minWidth: 820,
  columns: ['Address', 'Events', 'Status', 'Last delivery', 'Created'],
};

/** Webhooks with the result of their last delivery. */
export default function WebhooksPage() {
  const { can } = useSession();
  const webhooks = useApi<Webhooks>(
    '/webhooks',
    { limit: PAGE_SIZE, cursor: useCursor() },
    { every: REFRESH },
  );
  const [making, { open, close }] = useDisclosure(false);
  const mayChange = can('operator');

  return (
    <>
      <PageHeader title="Webhooks" isBar>
        {mayChange && <Button onClick={open}>New webhook</Button>}
      </PageHeader>
      <ListTab
        query={webhooks}
        items={({ webhooks }) => webhooks}
        table={TABLE}
        paged="webhooks"
        empty={
          <EmptyState title="No webhooks yet" example={EXAMPLE}>
            A webhook notifies your server of events, such as a click or a sale, within seconds: Hoplog sends
            a signed message for each event.
            {!mayChange && ' Operators of the workspace create webhooks.'}
          </EmptyState>
        }
        row={(webhook) => <Row key={webhook.id} webhook={webhook} />}
      />
      {making && <WebhookDialog webhook={null} close={close} />}
    </>
  );
}

function Row({ webhook }: { webhook: ShownWebhook }) {
  const last = webhook.last_delivery;
  return (
    <Table.Tr>
      <Table.Td maw={320}>
        <Anchor
          component={Link}
          href={`/webhooks/${webhook.id}`}
          size="sm"
          fw={600}
          truncate
          display="block"
          title={webhook.url}
        >
          {webhook.url}
        </Anchor>
        {webhook.description && (
          <Text size="xs" c="dimmed" truncate dir="auto" title={webhook.description}>
            {webhook.description}
          </Text>
        )}
      </Table.Td>
      <Table.Td maw={220}>{eventNames(webhook.events)}</Table.Td>
      <Table.Td>
        <StateBadge webhook={webhook} />
      </Table.Td>
      <Table.Td>
        {last === null ? (
          'None yet'
        ) : (
          <>
            <ResultBadge status={last.status} attempts={last.attempts} />
            <SmallNote title={formatInstant(last.created_at)}>
              {last.response_status !== null && `Response ${last.response_status}, `}
              {formatAgo(last.created_at)}
            </SmallNote>
          </>
        )}
      </Table.Td>
      <Table.Td>{formatDate(webhook.created_at)}</Table.Td>
    </Table.Tr>
  );
}
