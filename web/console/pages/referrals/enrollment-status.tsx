import { Button } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Enrollment } from './responses.ts';

/** Status of a referrer. */
export function EnrollmentStatus({ status }: Pick<Enrollment, 'status'>) {
  return status === 'approved' ? (
    <StatusBadge sign="good">Approved</StatusBadge>
  ) : (
    <StatusBadge sign="paused">Suspended</StatusBadge>
  );
}

/** Suspends an approved referrer after confirmation; approves a suspended one. */
export function StatusButton({
  enrollment,
}: {
  enrollment: Pick<Enrollment, 'partner_id' | 'status' | 'external_user_id'>;
}) {
  const { can } = useSession();
  const isApproved = enrollment.status === 'approved';
  const turn = useSend<void>(
    () => ({
      path: `/enrollments/${enrollment.partner_id}`,
      method: 'PATCH',
      body: { status: isApproved ? 'suspended' : 'approved' },
    }),
    {
      refresh: ['/enrollments', '/payouts/eligible'],
      done: `${enrollment.external_user_id} ${isApproved ? 'suspended' : 'approved'}`,
    },
  );
  if (!can('operator')) return null;
  if (!isApproved) {
    return (
      <Button loading={turn.isPending} onClick={() => turn.mutate()}>
        Approve
      </Button>
    );
  }
  return (
    <ConfirmButton
      question={`Suspend ${enrollment.external_user_id}?`}
      consequence="The link keeps leading to your site. New signups and purchases earn nothing, and nothing is paid out. What was earned stays and is paid once you approve again."
      yes="Suspend"
      pending={turn.isPending}
      onConfirm={() => turn.mutateAsync()}
    >
      Suspend
    </ConfirmButton>
  );
}
