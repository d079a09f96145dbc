import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDeliveriesView } from './deliveries-view.ts';
import type { Delivery, Webhook } from './responses.ts';
import { WebhookDialog } from './webhook-dialog.tsx';

/** Actions of operators on a webhook. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { can } = useSession();
  const [, navigate] = useLocation();
  const view = useDeliveriesView();
  const [editing, { open, close }] = useDisclosure(false);
  const path = `/webhooks/${webhook.id}`;
  const refresh = ['/webhooks'];
  const test = useSend<void, Delivery>(() => ({ path: `${path}/test` }), { refresh });
  const turn = useSend<boolean>((is_active) => ({ path, method: 'PATCH', body: { is_active } }), {
    refresh,
    done: (_, isOn) => (isOn ? 'Webhook enabled' : 'Webhook disabled'),
  });
  const queries = useQueryClient();
  const remove = useSend<void>(() => ({ path, method: 'DELETE' }), { done: 'Webhook deleted' });
  if (!can('operator')) return null;

  return (
    <>
      {webhook.is_active && (
        <Button
          loading={test.isPending}
          onClick={() => test.mutate(undefined, { onSuccess: ({ id }) => view.open(id) })}
        >
          Send a test event
        </Button>
      )}
      <Button variant="default" onClick={open}>
        Edit
      </Button>
      {webhook.is_active ? (
        <ConfirmButton
          question="Disable this webhook?"
          consequence="Your server receives no more events, and pending deliveries are discarded. After you enable it again, it receives new events only."
          yes="Disable"
          pending={turn.isPending}
          onConfirm={() => turn.mutateAsync(false)}
        >
          Disable
        </ConfirmButton>
      ) : (
        <Button loading={turn.isPending} onClick={() => turn.mutate(true)}>
          Enable
        </Button>
      )}
      <ConfirmButton
        question="Delete this webhook?"
        consequence="Your server receives no more events. Its secret and its deliveries are deleted too."
        yes="Delete"
        pending={remove.isPending}
        onConfirm={() =>
          remove.mutateAsync().then(() => {
            // Only the list: the webhook no longer exists.
            queries.removeQueries({ queryKey: ['/webhooks'] });
            navigate('/webhooks', { replace: true });
          })
        }
      >
        Delete
      </ConfirmButton>
      {editing && <WebhookDialog webhook={webhook} close={close} />}
    </>
  );
}
