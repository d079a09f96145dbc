import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import type { Coupon } from './responses.ts';

/** Deletes a coupon; shown to members who may. */
export function DeleteCouponButton({ coupon }: { coupon: Coupon }) {
  const { id, code, external_user_id: user, promotion_code: made } = coupon;
  const { can } = useSession();
  const remove = useSend<void>(() => ({ path: `/coupons/${id}`, method: 'DELETE' }), {
    refresh: ['/coupons'],
    done: 'Coupon deleted',
  });
  if (!can('operator')) return null;
  return (
    <ConfirmButton
      size="compact-xs"
      aria-label={`Delete the coupon ${code}`}
      question={`Delete the coupon ${code}?`}
      consequence={`Later orders with it bring ${user} nothing. Earlier ones and their renewals stay. ${made ? 'Its promotion code in Stripe ends.' : 'The discount at your payment provider stays too.'}`}
      yes="Delete"
      pending={remove.isPending}
      onConfirm={() => remove.mutateAsync()}
    >
      Delete
    </ConfirmButton>
  );
}
