import { Alert, Stack, Text } from '@mantine/core';
import { methodName } from '../../../../core/referrals/payout-method-names.ts';
import { messageOf } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';

type Props = {
  referrer: Pick<
    Enrollment,
    'partner_id' | 'external_user_id' | 'name' | 'payout_method' | 'payout_held_until'
  >;
};

/** Ends what holds a balance back since a page changed the payout address, after confirmation. */
export function ConfirmAddressButton({ referrer }: Props) {
  const { partner_id: id, payout_method: method } = referrer;
  const user = referrerName(referrer);
  const { can } = useSession();
  const confirm = useSend<void, Enrollment>(
    () => ({
      path: `/enrollments/${id}/confirm-payout-method`,
      method: 'POST',
      body: { payout_held_until: referrer.payout_held_until },
    }),
    {
      refresh: ['/referrals', '/payouts', '/enrollments'],
      done: () => `The next payout file pays ${user}`,
      tellFailure: false,
    },
  );
  if (!can('operator') || !method) return null;
  return (
    <ConfirmButton
      size="compact-xs"
      variant="default"
      question={`Pay ${user} at the new address?`}
      consequence={
        <Stack gap="sm">
          <Text size="sm">
            A page set {methodName(method.method)}, {method.email}, and anyone can write what a page sends.
            Ask the referrer in another way first. The next payout file then pays to this address.
          </Text>
          {confirm.isError && (
            <Alert color="red" variant="outline" role="alert" title="The address was not confirmed">
              {messageOf(confirm.error)}
            </Alert>
          )}
        </Stack>
      }
      yes="Confirm and pay now"
      pending={confirm.isPending}
      onConfirm={() => confirm.mutateAsync()}
    >
      Confirm and pay now
    </ConfirmButton>
  );
}
