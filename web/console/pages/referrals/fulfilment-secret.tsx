import { Modal, Text } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import type { Fulfilment, FulfilmentWithSecret } from './responses.ts';

/** After a lost response: a secret is not stored for a second one. */
const NOT_SHOWN = 'The response was lost. Replace the secret again to see one.';

/** Rotates the signing secret after confirmation, and shows it once. */
export function FulfilmentSecret({ fulfilment }: { fulfilment: Fulfilment }) {
  const rotate = useSend<void, FulfilmentWithSecret>(
    () => ({ path: `/fulfilments/${fulfilment.id}/rotate-secret` }),
    { refresh: ['/referrals', '/fulfilments'] },
  );
  return (
    <>
      <ConfirmButton
        size="xs"
        question="Replace the signing secret?"
        consequence="You get a new secret, and the old one signs no more. Calls that your server refuses until you set it are sent again."
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
            <Text size="sm">Set it at your server now.</Text>
          </SecretMade>
        )}
      </Modal>
    </>
  );
}
