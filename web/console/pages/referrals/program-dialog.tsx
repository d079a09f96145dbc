import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { useLatestMutation, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
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
 * Creates a program in steps, or edits one, with the API's errors at their fields. What is left out of a new one has the
 * API's default, so it can be created from each step.
 */
export function ProgramDialog({ program, close, made = close }: Props) {
  useFocusBack();
  const { workspace } = useSession();
  const isPhone = useMediaQuery('(max-width: 48em)');
  const [before] = useState(() => (program ? draftOf(program) : newDraft(workspace.currency)));
  const [draft, setDraft] = useState(before);
  const [step, setStep] = useState(0);
  const form = useRef<HTMLFormElement>(null);
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: of a step that was opened by hand the focus stays
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')?.focus();
  }, [error, program ?? stepWithError(error) === step]);

  const isDirty = !isAlike(draft, before);
  const fields = { draft, error, change: (part: Partial<Draft>) => setDraft({ ...draft, ...part }) };
  return (
    <Modal
      opened
      onClose={close}
      title={program ? `Edit ${program.name}` : 'New program'}
      size="lg"
      fullScreen={isPhone === true}
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isDirty}
      closeOnEscape={!isDirty}
    >
      <LeaveGuard active={isDirty} withQuery>
        Your input will be lost.
      </LeaveGuard>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: made });
        }}
      >
        <Stack gap="md">
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
          {error !== null && (
            <Alert color="red" variant="outline" role="alert" tabIndex={-1} title="Not saved">
              {failureText(error, draft)}
            </Alert>
          )}
          <Group justify="space-between">
            {program ? <span /> : <StepButtons step={step} go={setStep} />}
            <Group gap="xs">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" loading={save.isPending}>
                {program ? 'Save' : 'Create'}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
