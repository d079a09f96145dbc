import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { CouponDialog } from './coupon-dialog.tsx';
import { DeleteCouponButton } from './delete-coupon-button.tsx';
import { PromotionState } from './promotion-state.tsx';
import type { Coupons, Enrollment } from './responses.ts';

/** The coupons of a referrer. */
export function EnrollmentCoupons({ enrollment }: { enrollment: Enrollment }) {
  const { can } = useSession();
  const [isOpen, setOpen] = useState(false);
  const coupons = useApi<Coupons>('/coupons', { partner_id: enrollment.partner_id, limit: 100 });
  return (
    <section aria-labelledby="coupons">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5" id="coupons">
          Coupons
        </Title>
        {can('operator') && (
          <Button variant="default" size="xs" onClick={() => setOpen(true)}>
            Add a coupon
          </Button>
        )}
      </Group>
      <QueryView
        query={coupons}
        empty={{ when: (data) => data.coupons.length === 0, show: <Text size="sm">No coupons.</Text> }}
      >
        {(data) => (
          <Stack
            gap="xs"
            component="ul"
            aria-label="Coupons of the referrer"
            style={{ listStyle: 'none', padding: 0, margin: 0 }}
          >
            {data.coupons.map((coupon) => (
              <Group key={coupon.id} component="li" gap="xs">
                <Text ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                  {coupon.code}
                </Text>
                <CopyButton value={coupon.code} what={`the coupon ${coupon.code}`} />
                <PromotionState coupon={coupon} />
                <DeleteCouponButton coupon={coupon} />
              </Group>
            ))}
          </Stack>
        )}
      </QueryView>
      {isOpen && <CouponDialog user={enrollment.external_user_id} close={() => setOpen(false)} />}
    </section>
  );
}
