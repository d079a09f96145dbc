import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import type { Enrollment } from './responses.ts';

/** Adds a bonus, or takes an amount back. */
export function ManualCommission({
  enrollment,
  currency,
  close,
}: {
  enrollment: Enrollment;
  currency: string;
  close: () => void;
}) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const add = useSend<{ amount: number; note: string }>(
    (body) => ({
      path: '/commissions',
      body: { external_user_id: enrollment.external_user_id, ...body },
      once: true,
    }),
    {
      refresh: ['/referrals', '/commissions', '/ledger', '/enrollments', '/payouts'],
      done: 'Commission added',
      tellFailure: false,
    },
  );
  const wrong = (path: string) => {
    const message = fieldError(add.error, path);
    return message === null ? undefined : sentence(message);
  };
  const isNumber = /^-?(\d+\.?\d*|\.\d+)$/.test(amount.trim());
  return (
    <Modal opened onClose={close} title="Bonus or claw-back" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate({ amount: Number(amount), note }, { onSuccess: close });
        }}
      >
        <Stack gap="sm">
          <TextInput
            label={`Amount, in ${currency.toUpperCase()}`}
            description="A negative amount takes back."
            required
            data-autofocus
            inputMode="decimal"
            value={amount}
            error={wrong('amount')}
            onChange={(event) => setAmount(event.currentTarget.value)}
          />
          <TextInput
            label="Note"
            description="The referrer does not see it."
            required
            maxLength={500}
            value={note}
            error={wrong('note')}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          {add.isError && !wrong('amount') && !wrong('note') && (
            <Alert color="red" variant="outline" role="alert" title="Not added">
              {sentenceOf(add.error)}
            </Alert>
          )}
          <Text size="xs" c="dimmed">
            It is in the next payout file of {enrollment.external_user_id}.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending} disabled={!isNumber || note.trim() === ''}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
