import { Text } from '@mantine/core';
import { useSend } from '../api/queries.ts';
import { ConfirmButton } from './confirm-button.tsx';
import { Dialog } from './dialog.tsx';
import { SecretMade } from './secret-made.tsx';

type Props = {
  /** The route that replaces the secret. */
  path: string;
  refresh: string[];
  /** What becomes of the old secret. */
  consequence: string;
  /** Said beside the new secret. */
  after: string;
};

/** Replaces a signing secret after confirmation, and shows the new one once. */
export function ReplaceSecret({ path, refresh, consequence, after }: Props) {
  const rotate = useSend<void, { secret: string | null }>(() => ({ path }), { refresh });
  return (
    <>
      <ConfirmButton
        size="xs"
        question="Replace the signing secret?"
        consequence={consequence}
        yes="Replace"
        pending={rotate.isPending}
        onConfirm={() => rotate.mutateAsync()}
      >
        Replace the secret
      </ConfirmButton>
      {rotate.data && (
        <Dialog title="The secret was replaced" size="lg" stays close={rotate.reset}>
          <SecretMade
            value={rotate.data.secret}
            lost="Replace the secret again to see one."
            what="signing secret"
            onDone={rotate.reset}
          >
            <Text size="sm">{after}</Text>
          </SecretMade>
        </Dialog>
      )}
    </>
  );
}
