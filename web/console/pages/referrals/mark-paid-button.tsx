import { Alert, Stack, Text } from '@mantine/core';
import { messageOf } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { plural } from '../../formats.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import type { Paid, PayoutFile } from './responses.ts';
import { totalsText } from './words.ts';

const referrers = (count: number) => plural(count, 'referrer', 'referrers');

/** Marks a payout file as paid, after confirmation. */
export function MarkPaidButton({ file }: { file: PayoutFile }) {
  const {
    can,
    workspace: { currency },
  } = useSession();
  const mark = useSend<void, Paid>(
    () => ({ path: '/payouts', method: 'POST', body: { export_id: file.export_id } }),
    {
      refresh: ['/referrals', '/payouts', '/ledger', '/enrollments'],
      done: ({ paid, totals }) =>
        paid === file.referrers
          ? `Marked paid: ${referrers(paid)}, ${totalsText(totals, currency)}`
          : `Marked paid: ${paid} of ${referrers(file.referrers)}, ${totalsText(totals, currency)}. Nothing is left to pay to the others: another file paid them.`,
      tellFailure: false,
    },
  );
  if (!can('operator') || file.referrers === 0) return null;
  return (
    <ConfirmButton
      size="xs"
      question={`Mark ${referrers(file.referrers)} as paid?`}
      consequence={
        <Stack gap="sm">
          <Text size="sm">
            The ledger will say that {totalsText(file.totals, currency)} was paid to{' '}
            {referrers(file.referrers)}. This can't be undone, but a payment that comes back can be marked
            failed. Do it once the money was sent.
          </Text>
          {mark.isError && (
            <Alert color="red" variant="outline" role="alert" title="The file was not marked as paid">
              {messageOf(mark.error)}
            </Alert>
          )}
        </Stack>
      }
      yes={`Mark ${totalsText(file.totals, currency)} as paid`}
      pending={mark.isPending}
      onConfirm={() => mark.mutateAsync()}
    >
      Mark as paid
    </ConfirmButton>
  );
}
