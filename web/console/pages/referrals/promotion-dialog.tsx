import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import type { Connection } from '../connections/responses.ts';
import { promotionBody, promotionDraftOf } from './promotion-draft.ts';
import { isAboutPromotion, PromotionFields } from './promotion-fields.tsx';
import type { Coupon } from './responses.ts';

/** Makes the promotion code of a coupon in Stripe, also after attempts that failed. */
export function PromotionDialog({
  coupon,
  makers,
  close,
}: {
  coupon: Coupon;
  makers: readonly Connection[];
  close: () => void;
}) {
  const { id, code, promotion_code: made } = coupon;
  const [draft, setDraft] = useState(() => promotionDraftOf(made, makers));
  const make = useSend<object>((body) => ({ path: `/coupons/${id}/promotion-code`, body }), {
    refresh: ['/coupons'],
    done: 'Stripe makes the promotion code',
    tellFailure: false,
  });
  return (
    <Modal
      opened
      onClose={close}
      title={`Make ${code} in Stripe`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate(promotionBody(draft), { onSuccess: close });
        }}
      >
        <Stack gap="sm">
          {made?.error && (
            <Alert variant="outline" color="red" title="The last attempt failed">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {made.error}
              </Text>
            </Alert>
          )}
          <PromotionFields
            draft={draft}
            makers={makers}
            error={make.error}
            at=""
            change={(part) => setDraft({ ...draft, ...part })}
          />
          {make.isError && !isAboutPromotion(make.error, '') && (
            <Alert color="red" variant="outline" role="alert" title="Not made">
              {sentenceOf(make.error)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={make.isPending}>
              Make the promotion code
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
