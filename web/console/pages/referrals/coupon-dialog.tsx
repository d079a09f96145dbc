import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';

type Body = { code: string; external_user_id: string };

/** Gives a referrer a coupon. @param user the referrer; null: to be named */
export function CouponDialog({ user, close }: { user: string | null; close: () => void }) {
  const [code, setCode] = useState('');
  const [named, setNamed] = useState('');
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
  return (
    <Modal opened onClose={close} title="Add a coupon" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate({ code: code.trim(), external_user_id: referrer }, { onSuccess: close });
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
          {add.isError && !wrong('code') && !wrong('external_user_id') && (
            <Alert color="red" variant="outline" role="alert" title="Not added">
              {sentenceOf(add.error)}
            </Alert>
          )}
          <Text size="xs" c="dimmed">
            An order with this code belongs to {user ?? 'the referrer'}, without a click or a signup. Create
            the discount itself at your payment provider.
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
