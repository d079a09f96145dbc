import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import type { PayoutFile } from './responses.ts';

/** Cancels what is open in a payout file, after confirmation. */
export function CancelPayoutButton({ file }: { file: PayoutFile }) {
  const { can } = useSession();
  const cancel = useSend<void>(() => ({ path: `/payouts/${file.export_id}`, method: 'DELETE' }), {
    refresh: ['/referrals', '/payouts'],
    done: 'Payout file canceled',
  });
  if (!can('operator')) return null;
  return (
    <ConfirmButton
      size="xs"
      question="Cancel this payout file?"
      consequence="Its open lines can't be paid with this file any more. The balances stay, and the next file pays them. Lines that are paid stay paid."
      yes="Cancel the file"
      pending={cancel.isPending}
      onConfirm={() => cancel.mutateAsync()}
    >
      Cancel
    </ConfirmButton>
  );
}
