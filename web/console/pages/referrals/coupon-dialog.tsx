import { Alert, Button, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { type PromotionDraft, promotionBody, promotionDraftOf } from './promotion-draft.ts';
import { isAboutPromotion, PromotionFields } from './promotion-fields.tsx';
import { useMakers } from './promotion-state.tsx';

const TERMS = 'promotion_code.';

type Body = { code: string; external_user_id: string; promotion_code?: object };

/** Gives a referrer a coupon. @param user the referrer; null: to be named */
export function CouponDialog({ user, close }: { user: string | null; close: () => void }) {
  const [code, setCode] = useState('');
  const [named, setNamed] = useState('');
  const makers = useMakers();
  /** Null: the discount is made by hand. */
  const [promotion, setPromotion] = useState<PromotionDraft | null>(null);
  const add = useSend<Body>((body) => ({ path: '/coupons', body, once: true }), {
    refresh: ['/coupons'],
    done: 'Coupon added',
    tellFailure: false,
  });
  const wrong = (path: string) => {
    const message = fieldError(add.error, path);
    return message === null ? undefined : sentence(message);
  };
  const referrer = user ?? named.trim();
  const isAboutAField =
    wrong('code') !== undefined ||
    wrong('external_user_id') !== undefined ||
    isAboutPromotion(add.error, TERMS);
  return (
    <Modal opened onClose={close} title="Add a coupon" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(
            {
              code: code.trim(),
              external_user_id: referrer,
              ...(promotion && { promotion_code: promotionBody(promotion) }),
            },
            { onSuccess: close },
          );
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Code"
            description="As customers enter it at checkout. Upper and lower case are the same."
            required
            data-autofocus
            maxLength={200}
            value={code}
            error={wrong('code')}
            onChange={(event) => setCode(event.currentTarget.value)}
          />
          {user === null && (
            <TextInput
              label="Referrer"
              description="The user's id in your product."
              required
              maxLength={200}
              value={named}
              error={wrong('external_user_id')}
              onChange={(event) => setNamed(event.currentTarget.value)}
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
              draft={promotion}
              makers={makers}
              error={add.error}
              at={TERMS}
              change={(part) => setPromotion({ ...promotion, ...part })}
            />
          )}
          {add.isError && !isAboutAField && (
            <Alert color="red" variant="outline" role="alert" title="Not added">
              {sentenceOf(add.error)}
            </Alert>
          )}
          <Text size="xs" c="dimmed">
            An order with this code belongs to {user ?? 'the referrer'}, without a click or a signup.
            {promotion === null && ' Create the discount itself at your payment provider.'}
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending} disabled={code.trim() === '' || referrer === ''}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
