import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useParams } from 'wouter';
import { providerWords } from '../../../../core/connections/providers.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { BlocksSkeleton } from '../../parts/skeletons.tsx';
import { ConnectSteps } from './connect-steps.tsx';
import { EventLog } from './event-log.tsx';
import type { Connection } from './responses.ts';

/** Refresh interval until the first event, and otherwise: a failure shows until the next read begins. Milliseconds. */
const WAITING = 3_000;
const REFRESH = 30_000;

/** A connection: its three steps, and the events that it receives. */
export default function ConnectionPage() {
  const { id } = useParams<{ id: string }>();
  const connection = useApi<Connection>(
    `/connections/${encodeURIComponent(id)}`,
    {},
    { every: (last) => (last === undefined || last.status === 'active' ? REFRESH : WAITING) },
  );
  const { data } = connection;
  return (
    <>
      <PageHeader title={data ? `Connection to ${providerWords(data.provider).name}` : 'Connection'}>
        {data && <DeleteButton connection={data} />}
      </PageHeader>
      <QueryView query={connection} skeleton={<BlocksSkeleton heights={[520, 300]} />}>
        {(shown) => (
          <Stack gap="lg">
            <ConnectSteps key={shown.id} connection={shown} />
            <EventLog connection={shown} />
          </Stack>
        )}
      </QueryView>
    </>
  );
}

function DeleteButton({ connection }: { connection: Connection }) {
  const { can } = useSession();
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const remove = useSend<void>(() => ({ path: `/connections/${connection.id}`, method: 'DELETE' }), {
    done: 'Connection deleted',
  });
  if (!can('operator')) return null;
  return (
    <ConfirmButton
      question="Delete this connection?"
      consequence="Events of the provider are refused, and the received ones are deleted. Recorded purchases and rewards stay, but later renewals and refunds are not recorded."
      yes="Delete"
      pending={remove.isPending}
      onConfirm={() =>
        remove.mutateAsync().then(() => {
          // Only the list: the connection no longer exists.
          queries.removeQueries({ queryKey: ['/connections'] });
          navigate('/connections', { replace: true });
        })
      }
    >
      Delete
    </ConfirmButton>
  );
}
