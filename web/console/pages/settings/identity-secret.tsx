import { Button, Stack, Text } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SecretMade } from '../../parts/secret-made.tsx';

type Secret = ResponseOf<'/identity-secret', 'post'>;

/** Creates or replaces the key of `user_hash`; it is shown once. */
export function IdentitySecret({ isSet }: { isSet: boolean }) {
  const make = useSend<void, Secret>(() => ({ path: '/identity-secret' }), { refresh: ['/workspace'] });
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
          onConfirm={() => make.mutateAsync()}
        >
          Replace the identity secret
        </ConfirmButton>
      ) : (
        <Button size="xs" variant="default" loading={make.isPending} onClick={() => make.mutate()}>
          Create the identity secret
        </Button>
      )}
      {make.data && (
        <Dialog title="Identity secret" stays close={make.reset}>
          <SecretMade
            value={make.data.identity_secret}
            lost="Replace the secret again to see one."
            what="identity secret"
            onDone={make.reset}
          />
        </Dialog>
      )}
    </Stack>
  );
}
