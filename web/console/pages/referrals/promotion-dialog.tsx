import { Alert, Text } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import type { Connection } from '../connections/responses.ts';
import { promotionBody, promotionDraftOf } from './promotion-draft.ts';
import { PromotionFields, promotionPaths } from './promotion-fields.tsx';
import type { Coupon } from './responses.ts';

type Props = { coupon: Coupon; makers: readonly Connection[]; close: () => void };

/** Makes the promotion code of a coupon in Stripe, also after attempts that failed. */
export function PromotionDialog({ coupon, makers, close }: Props) {
  const { id, code, promotion_code: made } = coupon;
  const make = useSend<object>((body) => ({ path: `/coupons/${id}/promotion-code`, body }), {
    refresh: ['/coupons'],
    done: 'Stripe makes the promotion code',
    tellFailure: false,
  });
  const { draft, form } = useDraft(() => promotionDraftOf(made, makers), make.error);
  return (
    <FormDialog
      title={`Make ${code} in Stripe`}
      close={close}
      send={make}
      submit={() => make.mutate(promotionBody(draft), { onSuccess: close })}
      label="Make the promotion code"
      failed="Not made"
      fields={promotionPaths('')}
    >
      {made?.error && (
        <Alert variant="outline" color="red" title="The last attempt failed">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {made.error}
          </Text>
        </Alert>
      )}
      <PromotionFields form={form} makers={makers} at="" />
    </FormDialog>
  );
}
