import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EditEnrollment } from './edit-enrollment.tsx';
import { usePrograms } from './filters.tsx';
import { ManualCommission } from './manual-commission.tsx';
import { MessageDialog } from './message-dialog.tsx';
import { PreviewReferrer } from './preview-referrer.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';

/** What an operator may do with a referrer. */
export function EnrollmentActions({
  enrollment,
  currency,
  onDeleted,
}: {
  enrollment: Enrollment;
  /** The program's currency. */
  currency: string;
  onDeleted: () => void;
}) {
  const { can, sends_mail: sendsMail } = useSession();
  const programs = usePrograms();
  const [open, setOpen] = useState<'edit' | 'bonus' | 'message' | null>(null);
  const erase = useSend<void>(() => ({ path: `/enrollments/${enrollment.partner_id}`, method: 'DELETE' }), {
    refresh: ['/referrals', '/enrollments', '/payouts'],
    done: 'Referrer erased',
  });
  if (!can('operator')) return null;
  const close = () => setOpen(null);
  return (
    <Group gap="xs">
      <Button variant="default" size="xs" onClick={() => setOpen('edit')}>
        Edit
      </Button>
      <Button variant="default" size="xs" onClick={() => setOpen('bonus')}>
        Add bonus or claw-back
      </Button>
      {sendsMail && (
        <Button variant="default" size="xs" onClick={() => setOpen('message')}>
          Write a message
        </Button>
      )}
      <PreviewReferrer enrollment={enrollment} />
      <ConfirmButton
        size="xs"
        question={`Erase ${referrerName(enrollment)}?`}
        consequence="Name, emails, devices and addresses are deleted. Amounts and ids stay in the ledger. The link matches no signup any more. This can't be undone."
        yes="Erase"
        pending={erase.isPending}
        onConfirm={() => erase.mutateAsync().then(onDeleted)}
      >
        Erase
      </ConfirmButton>
      {open === 'edit' && <EditEnrollment enrollment={enrollment} close={close} />}
      {open === 'message' && <MessageDialog programs={programs} referrer={enrollment} close={close} />}
      {open === 'bonus' && <ManualCommission enrollment={enrollment} currency={currency} close={close} />}
    </Group>
  );
}
