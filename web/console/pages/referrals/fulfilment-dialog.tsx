import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import { changedFields } from '../../parts/changed-fields.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SecretMade } from '../../parts/secret-made.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { VerifyNote } from '../webhooks/verify-note.tsx';
import { draftOf, settingsOf } from './fulfilment-draft.ts';
import { FULFILMENT_FIELDS, FulfilmentFields } from './fulfilment-fields.tsx';
import type { Fulfilment, FulfilmentWithSecret, Program } from './responses.ts';

type Props = { program: Program; fulfilment: Fulfilment | null; close: () => void };

/** Sets up the fulfilment of a program and shows the secret of a webhook, or edits one. */
export function FulfilmentDialog({ program, fulfilment, close }: Props) {
  const [made, setMade] = useState<FulfilmentWithSecret | null>(null);
  const save = useSend<object, FulfilmentWithSecret>(
    (body) =>
      fulfilment
        ? { path: `/fulfilments/${fulfilment.id}`, method: 'PATCH', body }
        : { path: '/fulfilments', body, once: true },
    {
      refresh: ['/referrals', '/fulfilments'],
      tellFailure: false,
      done: fulfilment ? 'Fulfilment saved' : 'Credits are delivered from now on',
    },
  );
  const { before, draft, form, isDirty } = useDraft(() => draftOf(fulfilment, program.currency), save.error);

  const submit = () => {
    const settings = fulfilment ? changedFields(settingsOf(before), settingsOf(draft)) : settingsOf(draft);
    if (fulfilment && Object.keys(settings).length === 0) return close();
    const { provider, includeEarlier: include_earlier } = draft;
    const body = fulfilment ? { settings } : { provider, program_id: program.id, settings, include_earlier };
    save.mutate(body, {
      onSuccess: (got) => {
        if (fulfilment || provider !== 'webhook') close();
        else setMade(got);
      },
    });
  };

  return (
    <FormDialog
      title={made ? 'The fulfilment is ready' : `Deliver credits of ${program.name}`}
      close={close}
      isLong
      isDirty={isDirty}
      send={save}
      submit={submit}
      label={fulfilment ? 'Save' : 'Deliver credits'}
      failed="Not saved"
      fields={FULFILMENT_FIELDS}
      made={
        made && (
          <SecretMade
            value={made.secret}
            lost="Replace the secret to see one."
            what="signing secret"
            onDone={close}
          >
            <VerifyNote what="a call" />
          </SecretMade>
        )
      }
    >
      <FulfilmentFields existing={fulfilment} form={form} />
    </FormDialog>
  );
}
