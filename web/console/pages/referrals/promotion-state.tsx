import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Connections } from '../connections/responses.ts';
import { PromotionDialog } from './promotion-dialog.tsx';
import { makersOf, type PromotionCode } from './promotion-draft.ts';
import type { Coupon } from './responses.ts';

/** The connections that can make promotion codes. */
export function useMakers() {
  return makersOf(useApi<Connections>('/connections', { limit: 100 }).data);
}

/** The promotion code of a coupon in Stripe, and what can be done about it. Shows nothing if no connection makes codes. */
export function PromotionState({ coupon }: { coupon: Coupon }) {
  const { can } = useSession();
  const makers = useMakers();
  const [isOpen, setOpen] = useState(false);
  const { code, promotion_code: made } = coupon;
  const mayMake = can('operator') && makers.length > 0;
  if (made === null && !mayMake) return null;
  const isOpenToAttempt = made === null || made.status === 'failed' || made.error !== null;
  const name = made === null ? 'Make in Stripe' : 'Try again';
  return (
    <Group gap="xs">
      {made && <PromotionBadge status={made.status} />}
      {made?.error && (
        <Text size="xs" maw={260} lineClamp={2} title={made.error} style={{ overflowWrap: 'anywhere' }}>
          {made.error}
        </Text>
      )}
      {mayMake && isOpenToAttempt && (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={`${name}: ${code}`}
          onClick={() => setOpen(true)}
        >
          {name}
        </Button>
      )}
      {isOpen && <PromotionDialog coupon={coupon} makers={makers} close={() => setOpen(false)} />}
    </Group>
  );
}

function PromotionBadge({ status }: Pick<PromotionCode, 'status'>) {
  if (status === 'active') return <StatusBadge sign="good">In Stripe</StatusBadge>;
  if (status === 'pending') return <StatusBadge sign="waiting">Being made</StatusBadge>;
  return <StatusBadge sign="bad">Not in Stripe</StatusBadge>;
}
