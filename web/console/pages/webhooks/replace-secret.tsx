import { Modal, Text } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import type { Webhook, WebhookWithSecret } from './responses.ts';

/** After a lost response: a secret is not stored for a second one. */
const NOT_SHOWN = 'The response was lost. Replace the secret again to see one.';

/** Rotates the signing secret after confirmation, and shows it once. */
export function ReplaceSecret({ webhook }: { webhook: Webhook }) {
  const rotate = useSend<void, WebhookWithSecret>(() => ({ path: `/webhooks/${webhook.id}/rotate-secret` }), {
    refresh: ['/webhooks'],
  });
  return (
    <>
      <ConfirmButton
        size="xs"
        question="Replace the signing secret?"
        consequence="You get a new secret. For 24 hours, messages are signed with both; after that, the old secret is no longer valid."
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
          <SecretMade value={rotate.data.secret ?? NOT_SHOWN} what="signing secret" onDone={rotate.reset}>
            <Text size="sm">The old secret works for another 24 hours.</Text>
          </SecretMade>
        )}
      </Modal>
    </>
  );
}
