import { Button, Stack, Text } from '@mantine/core';
import { callApi } from '../../api/call.ts';
import { messageOf } from '../../api/failures.ts';
import { useOneMutation } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SignInFailure } from './sign-in-failure.tsx';

/** Confirms an address for a workspace's reports. A program that only opens the links of a mail confirms nothing. */
export default function ConfirmMailPage() {
  const token = window.location.hash.slice(1);
  const confirm = useOneMutation<void, unknown>({
    mutationFn: () =>
      callApi(`/mails/confirm?token=${encodeURIComponent(token)}`, { method: 'POST', body: {} }),
  });
  return (
    <>
      <PageHeader title="Reports by mail" />
      {confirm.isSuccess ? (
        <div role="status">
          <EmptyState title="Confirmed">
            You get the reports from now on. Each of them has a link that ends them.
          </EmptyState>
        </div>
      ) : (
        <Stack gap="md">
          {confirm.isError && <SignInFailure message={messageOf(confirm.error)} />}
          <Text>Press the button to get the reports of the workspace that added your address.</Text>
          <Button loading={confirm.isPending} onClick={() => confirm.mutate()}>
            Get the reports
          </Button>
        </Stack>
      )}
    </>
  );
}
