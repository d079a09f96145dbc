import { Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { callApi } from '../../api/call.ts';
import { useOneMutation, useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Application, Enrollment, Enrollments } from './responses.ts';

/** Reads that a decision on an application changes. */
export const CHANGED_BY_DECISION = ['/applications', '/enrollments', '/referrals'];

/** Approves an application. Asks first when a referrer of the program, added by hand or imported, has its address. */
export function ApproveApplication({ application }: { application: Application }) {
  const { id, name, email, program_id } = application;
  const [known, setKnown] = useState<Enrollment | null>(null);
  const approve = useSend<{ external_user_id?: string }>(
    (body) => ({ path: `/applications/${id}/approve`, body }),
    { refresh: CHANGED_BY_DECISION, done: `${name} approved` },
  );
  const look = useOneMutation<void, Enrollments>({
    mutationFn: () => callApi('/enrollments', { query: { program_id, search: email, limit: 10 } }),
    onSuccess: ({ enrollments }) => {
      const found = enrollments.find((one) => one.email?.toLowerCase() === email);
      if (found) setKnown(found);
      else approve.mutate({});
    },
    onError: (error) => notifications.show({ message: sentenceOf(error), color: 'red' }),
  });
  const close = () => setKnown(null);
  const decide = (body: { external_user_id?: string }) => approve.mutate(body, { onSuccess: close });
  return (
    <>
      <Button
        size="compact-xs"
        aria-label={`Approve ${name}`}
        loading={look.isPending || approve.isPending}
        onClick={() => look.mutate()}
      >
        Approve
      </Button>
      {known && (
        <Dialog title={`${referrerName(known)} is a referrer already`} close={close}>
          <Stack gap="md">
            <Text size="sm">
              A referrer of this program has the address {email}. With the account, the applicant sees what
              that referrer earned, and can change where it is paid. Do so only if you know that the two are
              one person: an address that a page reported can be anyone's.
            </Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button variant="default" loading={approve.isPending} onClick={() => decide({})}>
                Make a new referrer
              </Button>
              <Button
                loading={approve.isPending}
                onClick={() => decide({ external_user_id: known.external_user_id })}
              >
                Give them this account
              </Button>
            </Group>
          </Stack>
        </Dialog>
      )}
    </>
  );
}
