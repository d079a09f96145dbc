import { useEffect, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { useLatestMutation, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { changeBody, createBody, type Draft, draftOf, newDraft } from './program-draft.ts';
import { BasicFields, CommissionFields, CreditFields, PayoutFields } from './program-fields.tsx';
import { failureText } from './program-problems.ts';
import { ProgramSteps, StepButtons, stepWithError } from './program-steps.tsx';
import { TrustFields } from './program-trust-fields.tsx';
import type { Program } from './responses.ts';

type Props = {
  /** Null: a new one. */
  program: Program | null;
  close: () => void;
  /** Closes it after a success; `close` by default. */
  made?: () => void;
};

/**
 * Creates a program in steps, or edits one, with the API's errors at their fields. What is left out of a new one has
 * the API's default, so it can be created from each step.
 */
export function ProgramDialog({ program, close, made = close }: Props) {
  const { workspace } = useSession();
  const { before, draft, change, isDirty } = useDraft<Draft>(() =>
    program ? draftOf(program) : newDraft(workspace.currency),
  );
  const [step, setStep] = useState(0);
  const send = useSend<Record<string, unknown>>(
    (body) =>
      program
        ? { path: `/programs/${program.id}`, method: 'PATCH', body }
        : { path: '/programs', body, once: true },
    {
      refresh: ['/referrals', '/programs'],
      done: program ? 'Program saved' : 'Program created',
      tellFailure: false,
    },
  );
  const save = useLatestMutation({
    mutationFn: async () => {
      if (!program) return send.mutateAsync(createBody(draft));
      const isOfParts = 'signup_credit' in changeBody(before, draft, before);
      const now = isOfParts ? draftOf(await callApi<Program>(`/programs/${program.id}`)) : before;
      return send.mutateAsync(changeBody(before, draft, now));
    },
  });
  const { error } = save;
  useEffect(() => {
    const wrong = stepWithError(error);
    if (wrong !== null) setStep(wrong);
  }, [error]);
  const fields = { draft, error, change };
  return (
    <FormDialog
      title={program ? `Edit ${program.name}` : 'New program'}
      close={close}
      isLong
      isDirty={isDirty}
      send={save}
      submit={() => save.mutate(undefined, { onSuccess: made })}
      label={program ? 'Save' : 'Create'}
      failed="Not saved"
      failure={error === null ? null : failureText(error, draft)}
      // The focus does not move when the person has opened another step.
      isWrong={error !== null && program === null && stepWithError(error) === step}
      aside={!program && <StepButtons step={step} go={setStep} />}
    >
      {program ? (
        <>
          <BasicFields {...fields} existing />
          <CommissionFields {...fields} />
          <CreditFields {...fields} />
          <PayoutFields {...fields} />
          <TrustFields {...fields} />
        </>
      ) : (
        <ProgramSteps {...fields} step={step} go={setStep} />
      )}
    </FormDialog>
  );
}
