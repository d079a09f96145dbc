import { Checkbox, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { type PromotionDraft, promotionBody, promotionDraftOf } from './promotion-draft.ts';
import { PromotionFields, promotionPaths } from './promotion-fields.tsx';
import { useMakers } from './promotion-state.tsx';

const TERMS = 'promotion_code.';

type Body = { code: string; external_user_id: string; promotion_code?: object };

/** Gives a referrer a coupon. @param user the referrer; null: to be named */
export function CouponDialog({ user, close }: { user: string | null; close: () => void }) {
  const add = useSend<Body>((body) => ({ path: '/coupons', body, once: true }), {
    refresh: ['/coupons'],
    done: 'Coupon added',
    tellFailure: false,
  });
  const { draft, text } = useDraft({ code: '', external_user_id: user ?? '' }, add.error);
  const makers = useMakers();
  /** Null: the discount is made by hand. */
  const [promotion, setPromotion] = useState<PromotionDraft | null>(null);
  const body = {
    code: draft.code.trim(),
    external_user_id: user ?? draft.external_user_id.trim(),
    ...(promotion && { promotion_code: promotionBody(promotion) }),
  };
  return (
    <FormDialog
      title="Add a coupon"
      close={close}
      send={add}
      submit={() => add.mutate(body, { onSuccess: close })}
      label="Add"
      failed="Not added"
      fields={['code', 'external_user_id', ...promotionPaths(TERMS)]}
      isReady={body.code !== '' && body.external_user_id !== ''}
    >
      <TextInput
        label="Code"
        description="As customers enter it at checkout. Upper and lower case are the same."
        required
        data-autofocus
        maxLength={200}
        {...text('code')}
      />
      {user === null && (
        <TextInput
          label="Referrer"
          description="The user's id in your product."
          required
          maxLength={200}
          {...text('external_user_id')}
        />
      )}
      {makers.length > 0 && (
        <Checkbox
          label="Make the promotion code in Stripe"
          checked={promotion !== null}
          onChange={(event) =>
            setPromotion(event.currentTarget.checked ? promotionDraftOf(null, makers) : null)
          }
        />
      )}
      {promotion && (
        <PromotionFields
          form={{
            draft: promotion,
            error: add.error,
            change: (part) => setPromotion({ ...promotion, ...part }),
          }}
          makers={makers}
          at={TERMS}
        />
      )}
      <SmallNote>
        An order with this code belongs to {user ?? 'the referrer'}, without a click or a signup.
        {promotion === null && ' Create the discount itself at your payment provider.'}
      </SmallNote>
    </FormDialog>
  );
}
