import { Modal, Text } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import type { Webhook, WebhookWithSecret } from './responses.ts';

/** Puts a new signing secret in force, after a question, and shows it once. */
export function ReplaceSecret({ webhook }: { webhook: Webhook }) {
  const rotate = useSend<void, WebhookWithSecret>(() => ({ path: `/webhooks/${webhook.id}/rotate-secret` }), {
    refresh: ['/webhooks'],
  });
  return (
    <>
      <ConfirmButton
        size="xs"
        question="Replace the signing secret?"
        consequence="You get a new one. For 24 hours each message is signed with both, so that your server can change over at any time in between; after that the old one is worth nothing."
        yes="Replace"
        pending={rotate.isPending}
        onConfirm={() => rotate.mutateAsync()}
      >
        Replace the secret
      </ConfirmButton>
      <Modal
        opened={rotate.data !== undefined}
        onClose={rotate.reset}
        title="The secret was replaced"
        size="lg"
        {...STAYS}
      >
        {rotate.data && (
          <SecretMade value={rotate.data.secret} what="signing secret" onDone={rotate.reset}>
            <Text size="sm">The old one goes on working for 24 hours.</Text>
          </SecretMade>
        )}
      </Modal>
    </>
  );
}
