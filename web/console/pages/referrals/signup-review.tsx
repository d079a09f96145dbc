import { Button, Group } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import type { Signup } from './responses.ts';

const REFRESH = ['/referrals', '/signups', '/purchases', '/ledger', '/enrollments', '/commissions'];

/** Approves or rejects a held signup. */
export function SignupReview({ signup }: { signup: Signup }) {
  const { can } = useSession();
  const user = signup.external_user_id;
  const approve = useSend<void>(() => ({ path: `/signups/${signup.id}/approve` }), {
    refresh: REFRESH,
    done: `Signup of ${user} approved`,
  });
  const reject = useSend<void>(() => ({ path: `/signups/${signup.id}/reject` }), {
    refresh: REFRESH,
    done: `Signup of ${user} rejected`,
  });
  if (!can('operator')) return null;
  return (
    <Group gap="xs" mt={4} wrap="nowrap">
      <Button
        size="compact-xs"
        aria-label={`Approve ${user}`}
        loading={approve.isPending}
        onClick={() => approve.mutate()}
      >
        Approve
      </Button>
      <ConfirmButton
        size="compact-xs"
        aria-label={`Reject ${user}`}
        question={`Reject the signup of ${user}?`}
        consequence="It and the purchases of this user earn nothing, now and later. This can't be undone."
        yes="Reject"
        pending={reject.isPending}
        onConfirm={() => reject.mutateAsync()}
      >
        Reject
      </ConfirmButton>
    </Group>
  );
}
