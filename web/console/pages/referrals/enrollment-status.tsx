import { Button } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';

/** Status of a referrer. */
export function EnrollmentStatus({ status }: Pick<Enrollment, 'status'>) {
  return status === 'approved' ? (
    <StatusBadge sign="good">Approved</StatusBadge>
  ) : (
    <StatusBadge sign="paused">Suspended</StatusBadge>
  );
}

/** Suspends an approved referrer, which can be undone; approves a suspended one. */
export function StatusButton({
  enrollment,
}: {
  enrollment: Pick<Enrollment, 'partner_id' | 'status' | 'external_user_id' | 'name' | 'email'>;
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
      refresh: ['/referrals', '/enrollments', '/payouts/eligible'],
      done: isApproved
        ? `${referrerName(enrollment)} suspended. New signups and purchases earn nothing, and nothing is paid out.`
        : `${referrerName(enrollment)} approved`,
      undo: () => ({
        path: `/enrollments/${enrollment.partner_id}`,
        method: 'PATCH',
        body: { status: enrollment.status },
      }),
    },
  );
  if (!can('operator')) return null;
  return (
    <Button
      variant={isApproved ? 'default' : 'filled'}
      loading={turn.isPending}
      onClick={() => turn.mutate()}
    >
      {isApproved ? 'Suspend' : 'Approve'}
    </Button>
  );
}
