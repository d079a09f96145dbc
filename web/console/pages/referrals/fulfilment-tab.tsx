import { Alert, Button, Group, Paper, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { useApi, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatDate, formatExact } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { ReplaceSecret } from '../../parts/replace-secret.tsx';
import { CreditDeliveries } from './credit-deliveries.tsx';
import { FulfilmentDialog } from './fulfilment-dialog.tsx';
import type { Fulfilment, Fulfilments, Program, Programs } from './responses.ts';
import { useViewState } from './view-state.ts';

/** Refresh interval of the counts. Milliseconds. */
const REFRESH = 5_000;
const MOST = 500;

/** Programs that grant credits, how each one's credits are delivered, and the deliveries. */
export function FulfilmentTab() {
  const view = useViewState();
  const programs = useApi<Programs>('/programs');
  const fulfilments = useApi<Fulfilments>('/fulfilments', { limit: MOST }, { every: REFRESH });
  const [edited, setEdited] = useState<Program | null>(null);
  const ofProgram = (program: Program) =>
    fulfilments.data?.fulfilments.find(({ program_id }) => program_id === program.id) ?? null;
  const shown = fulfilments.data?.fulfilments.find(({ id }) => id === view.get('fulfilment'));
  return (
    <>
      <QueryView query={programs}>
        {({ programs }) => {
          const withCredits = programs.filter((program) => program.credit_enabled || ofProgram(program));
          if (withCredits.length === 0) {
            return (
              <EmptyState title="No program grants credits">
                Turn on credits in a program. Then Hoplog can deliver them for you.
              </EmptyState>
            );
          }
          return (
            <QueryView query={fulfilments}>
              {() => (
                <Stack gap="md">
                  {withCredits.map((program) => (
                    <ProgramFulfilment
                      key={program.id}
                      program={program}
                      fulfilment={ofProgram(program)}
                      edit={() => setEdited(program)}
                    />
                  ))}
                  {shown && <CreditDeliveries fulfilment={shown} />}
                </Stack>
              )}
            </QueryView>
          );
        }}
      </QueryView>
      {edited && (
        <FulfilmentDialog program={edited} fulfilment={ofProgram(edited)} close={() => setEdited(null)} />
      )}
    </>
  );
}

type Props = { program: Program; fulfilment: Fulfilment | null; edit: () => void };

function ProgramFulfilment({ program, fulfilment, edit }: Props) {
  const { can } = useSession();
  return (
    <Paper withBorder p="md" component="article" aria-label={`Fulfilment of ${program.name}`}>
      <Stack gap="sm">
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {program.name}
        </Title>
        {fulfilment ? (
          <FulfilmentFacts fulfilment={fulfilment} edit={edit} />
        ) : (
          <Group justify="space-between">
            <Note maw={560}>
              Credits are not delivered. Your server lists earned credits and marks them delivered.
            </Note>
            {can('operator') && <Button onClick={edit}>Deliver credits</Button>}
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

function FulfilmentFacts({ fulfilment, edit }: { fulfilment: Fulfilment; edit: () => void }) {
  const { can } = useSession();
  const view = useViewState();
  const { settings, deliveries, provider } = fulfilment;
  const remove = useSend<void>(() => ({ path: `/fulfilments/${fulfilment.id}`, method: 'DELETE' }), {
    refresh: ['/referrals', '/fulfilments'],
    done: 'Fulfilment deleted',
  });
  const isShown = view.get('fulfilment') === fulfilment.id;
  return (
    <>
      {deliveries.failed > 0 && (
        <Alert color="red" variant="outline" title="Some credits could not be delivered">
          {formatCount(deliveries.failed)} failed. Their users do not have them yet.
        </Alert>
      )}
      <Facts>
        {provider === 'webhook' ? (
          <Fact name="Calls">{settings.url}</Fact>
        ) : (
          <Fact name="Stripe customer balance">
            {formatExact(settings.credit_value ?? 1)} {settings.currency?.toUpperCase()} for one credit, with{' '}
            {settings.restricted_key_set ? 'a key of its own' : 'the key of the Stripe connection'}
          </Fact>
        )}
        <Fact name="Since">{formatDate(fulfilment.created_at)}</Fact>
        <Fact name="Delivered">{formatCount(deliveries.delivered)}</Fact>
        <Fact name="Pending">{formatCount(deliveries.pending)}</Fact>
      </Facts>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          aria-pressed={isShown}
          onClick={() => view.set({ fulfilment: isShown ? null : fulfilment.id, status: null })}
        >
          {isShown ? 'Hide deliveries' : 'Show deliveries'}
        </Button>
        {can('operator') && (
          <>
            <Button variant="default" size="xs" onClick={edit}>
              Edit
            </Button>
            {provider === 'webhook' && (
              <ReplaceSecret
                path={`/fulfilments/${fulfilment.id}/rotate-secret`}
                refresh={['/referrals', '/fulfilments']}
                consequence="You get a new secret, and the old one signs no more. Calls that your server refuses until you set it are sent again."
                after="Set it at your server now."
              />
            )}
            <ConfirmButton
              size="xs"
              question="Delete the fulfilment?"
              consequence="Credits are not delivered any more. Pending deliveries fail, and their credits stay earned."
              yes="Delete"
              pending={remove.isPending}
              onConfirm={() => remove.mutateAsync()}
            >
              Delete
            </ConfirmButton>
          </>
        )}
      </Group>
    </>
  );
}
