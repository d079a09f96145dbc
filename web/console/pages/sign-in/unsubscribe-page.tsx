import { Button, Stack, Text } from '@mantine/core';
import { callApi } from '../../api/call.ts';
import { messageOf } from '../../api/failures.ts';
import { useOneMutation } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SignInFailure } from './sign-in-failure.tsx';

/** Ends a workspace's mail to an address. A program that only opens the links of a mail ends nothing. */
export default function UnsubscribePage() {
  const token = window.location.hash.slice(1);
  const end = useOneMutation<void, unknown>({
    mutationFn: () =>
      callApi(`/mails/unsubscribe?token=${encodeURIComponent(token)}`, { method: 'POST', body: {} }),
  });
  return (
    <>
      <PageHeader title="Mail of this workspace" />
      {end.isSuccess ? (
        <div role="status">
          <EmptyState title="No more mail">
            You get no more invitations and reports of this workspace. Mail about an account of yours is still
            sent.
          </EmptyState>
        </div>
      ) : (
        <Stack gap="md">
          {end.isError && <SignInFailure message={messageOf(end.error)} />}
          <Text>
            Press the button to get no more invitations and reports of the workspace. Mail about an account of
            yours is still sent.
          </Text>
          <Button loading={end.isPending} onClick={() => end.mutate()}>
            End the mail
          </Button>
        </Stack>
      )}
    </>
  );
}
