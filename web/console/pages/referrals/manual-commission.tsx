import { TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';

type Props = { enrollment: Enrollment; currency: string; close: () => void };

/** Adds a bonus, or takes an amount back. */
export function ManualCommission({ enrollment, currency, close }: Props) {
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
  const { draft, text } = useDraft({ amount: '', note: '' }, add.error);
  const { amount, note } = draft;
  const isNumber = /^-?(\d+\.?\d*|\.\d+)$/.test(amount.trim());
  return (
    <FormDialog
      title="Bonus or claw-back"
      close={close}
      send={add}
      submit={() => add.mutate({ amount: Number(amount), note }, { onSuccess: close })}
      label="Add"
      failed="Not added"
      fields={['amount', 'note']}
      isReady={isNumber && note.trim() !== ''}
    >
      <TextInput
        label={`Amount, in ${currency.toUpperCase()}`}
        description="A negative amount takes back."
        required
        data-autofocus
        inputMode="decimal"
        {...text('amount')}
      />
      <TextInput
        label="Note"
        description="The referrer does not see it."
        required
        maxLength={500}
        {...text('note')}
      />
      <SmallNote>It is in the next payout file of {referrerName(enrollment)}.</SmallNote>
    </FormDialog>
  );
}
