import { Anchor, Button, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from 'wouter';
import { providerWords } from '../../../../core/connections/providers.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatAgo, formatDate } from '../../formats.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ListTab } from '../../parts/list-tab.tsx';
import { useCursor } from '../../parts/older-rows.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ConnectionBadge } from './badges.tsx';
import { NewConnection } from './new-connection.tsx';
import type { Connection, Connections } from './responses.ts';

/** What the page looks like with data. */
const EXAMPLE = [
  ['Stripe', 'live', 'last event a minute ago'],
  ['Shopify', 'live', 'last event an hour ago'],
];

const PAGE_SIZE = 50;
/** Refresh interval of the list. Milliseconds. */
const REFRESH = 10_000;

const TABLE = {
  label: 'Connections',
  columns: ['Provider', 'Status', 'Counts', 'Last event', 'Created'],
};

/** Connected billing providers. */
export default function ConnectionsPage() {
  const { can } = useSession();
  const connections = useApi<Connections>(
    '/connections',
    { limit: PAGE_SIZE, cursor: useCursor() },
    { every: REFRESH },
  );
  const [making, { open, close }] = useDisclosure(false);
  const mayChange = can('operator');
  return (
    <>
      <PageHeader title="Connections" isBar>
        {mayChange && <Button onClick={open}>Connect a provider</Button>}
      </PageHeader>
      <ListTab
        query={connections}
        items={({ connections }) => connections}
        table={TABLE}
        paged="connections"
        empty={
          <EmptyState title="No connections yet" example={EXAMPLE}>
            A connected billing provider reports purchases, renewals, refunds and disputes: your server need
            not report them.
            {!mayChange && ' Operators of the workspace connect providers.'}
          </EmptyState>
        }
        row={(connection) => <Row key={connection.id} connection={connection} />}
      />
      {making && <NewConnection close={close} />}
    </>
  );
}

function Row({ connection }: { connection: Connection }) {
  const { id, provider, settings, last_event_at: last, created_at } = connection;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/connections/${id}`} size="sm" fw={600}>
          {providerWords(provider).name}
        </Anchor>
      </Table.Td>
      <Table.Td>
        <ConnectionBadge connection={connection} />
      </Table.Td>
      <Table.Td>{settings.mode === 'live' ? 'Live mode' : 'Test mode'}</Table.Td>
      <Table.Td>{last === null ? 'None yet' : formatAgo(last)}</Table.Td>
      <Table.Td>{formatDate(created_at)}</Table.Td>
    </Table.Tr>
  );
}
