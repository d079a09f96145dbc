import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import type { Programme } from './answers.ts';
import { changeBody, createBody, type Draft, draftOf, newDraft } from './programme-draft.ts';
import { BasicFields, CommissionFields, CreditFields, PayoutFields } from './programme-fields.tsx';
import { failureText } from './programme-problems.ts';

/** Makes a programme, or changes one, with the API's own words at each field that is wrong. */
export function ProgrammeDialog({ programme, close }: { programme: Programme | null; close: () => void }) {
  useFocusBack();
  const { workspace } = useSession();
  const isPhone = useMediaQuery('(max-width: 48em)');
  const [before] = useState(() => (programme ? draftOf(programme) : newDraft(workspace.currency)));
  const [draft, setDraft] = useState(before);
  const form = useRef<HTMLFormElement>(null);
  const send = useSend<Record<string, unknown>>(
    (body) =>
      programme
        ? { path: `/programs/${programme.id}`, method: 'PATCH', body }
        : { path: '/programs', body, once: true },
    {
      refresh: ['/programs'],
      done: programme ? 'Programme saved' : 'Programme created',
      tellFailure: false,
    },
  );
  const save = useMutation({
    mutationFn: async () => {
      if (!programme) return send.mutateAsync(createBody(draft));
      const isOfParts = 'signup_credit' in changeBody(before, draft, before);
      const now = isOfParts ? draftOf(await callApi<Programme>(`/programs/${programme.id}`)) : before;
      return send.mutateAsync(changeBody(before, draft, now));
    },
  });
  const { error } = save;
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')?.focus();
  }, [error]);

  const isDirty = !isAlike(draft, before);
  const fields = { draft, error, change: (part: Partial<Draft>) => setDraft({ ...draft, ...part }) };
  return (
    <Modal
      opened
      onClose={close}
      title={programme ? `Edit ${programme.name}` : 'New programme'}
      size="lg"
      fullScreen={isPhone === true}
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isDirty}
      closeOnEscape={!isDirty}
    >
      <LeaveGuard active={isDirty} withQuery>
        What you have filled in would be lost.
      </LeaveGuard>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(undefined, { onSuccess: close });
        }}
      >
        <Stack gap="md">
          <BasicFields {...fields} existing={programme !== null} />
          <CommissionFields {...fields} />
          <CreditFields {...fields} />
          <PayoutFields {...fields} />
          {error !== null && (
            <Alert color="red" variant="outline" role="alert" tabIndex={-1} title="It was not saved">
              {failureText(error, draft)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {programme ? 'Save' : 'Create'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
