import { Button, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';

/** In place of a secret that a repeated call did not show. */
const NOT_SHOWN = 'The response was lost. Replace the secret again to see one.';

type Secret = ResponseOf<'/identity-secret', 'post'>;

/** Creates or replaces the key of `user_hash`; it is shown once. */
export function IdentitySecret({ isSet }: { isSet: boolean }) {
  const make = useSend<void, Secret>(() => ({ path: '/identity-secret' }), { refresh: ['/workspace'] });
  const [isShown, setShown] = useState(false);
  const run = () => make.mutateAsync().then(() => setShown(true));
  return (
    <Stack gap="xs" align="flex-start">
      <Text size="sm">
        {isSet ? 'An identity secret is set.' : 'No identity secret is set.'} Your server computes user_hash
        with it.
      </Text>
      {isSet ? (
        <ConfirmButton
          size="xs"
          question="Replace the identity secret?"
          consequence="Every user_hash of the old secret is refused from now on. Your server needs the new one at once."
          yes="Replace"
          pending={make.isPending}
          onConfirm={run}
        >
          Replace the identity secret
        </ConfirmButton>
      ) : (
        <Button size="xs" variant="default" loading={make.isPending} onClick={() => void run()}>
          Create the identity secret
        </Button>
      )}
      <Modal opened={isShown} onClose={() => setShown(false)} title="Identity secret" {...STAYS}>
        {make.data && (
          <SecretMade
            value={make.data.identity_secret ?? NOT_SHOWN}
            what="identity secret"
            onDone={() => {
              setShown(false);
              make.reset();
            }}
          />
        )}
      </Modal>
    </Stack>
  );
}
