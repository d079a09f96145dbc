import { Alert, Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { changedFields, isAlike } from '../../parts/changed-fields.ts';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { draftOf, type FulfilmentDraft, settingsOf } from './fulfilment-draft.ts';
import { FULFILMENT_FIELDS, FulfilmentFields } from './fulfilment-fields.tsx';
import type { Fulfilment, FulfilmentWithSecret, Program } from './responses.ts';

/** After a lost response: a secret is not stored for a second one. */
const NOT_SHOWN = 'The response was lost. Replace the secret to see one.';

/** Sets up the fulfilment of a program and shows the secret of a webhook, or edits one. */
export function FulfilmentDialog({
  program,
  fulfilment,
  close,
}: {
  program: Program;
  fulfilment: Fulfilment | null;
  close: () => void;
}) {
  useFocusBack();
  const isPhone = useMediaQuery('(max-width: 48em)');
  const form = useRef<HTMLFormElement>(null);
  const [before] = useState(() => draftOf(fulfilment, program.currency));
  const [draft, setDraft] = useState(before);
  const [secret, setSecret] = useState<string | null>(null);
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
  const { error } = save;
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')?.focus();
  }, [error]);

  const submit = () => {
    const settings = fulfilment ? changedFields(settingsOf(before), settingsOf(draft)) : settingsOf(draft);
    if (fulfilment && Object.keys(settings).length === 0) return close();
    const { provider, includeEarlier: include_earlier } = draft;
    const body = fulfilment ? { settings } : { provider, program_id: program.id, settings, include_earlier };
    save.mutate(body, {
      onSuccess: (made) => {
        if (fulfilment || provider !== 'webhook') close();
        else setSecret(made.secret ?? NOT_SHOWN);
      },
    });
  };

  const isDirty = !isAlike(draft, before);
  const isAboutAField = FULFILMENT_FIELDS.some((path) => fieldError(error, path) !== null);
  const title = secret !== null ? 'The fulfilment is ready' : `Deliver credits of ${program.name}`;
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      size="lg"
      fullScreen={isPhone === true}
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isDirty}
      closeOnEscape={!isDirty}
      {...(secret !== null && STAYS)}
    >
      <LeaveGuard active={isDirty && secret === null} withQuery>
        Your input will be lost.
      </LeaveGuard>
      {secret !== null ? (
        <SecretMade value={secret} what="signing secret" onDone={close}>
          <Text size="sm">
            Your server uses it to verify that a call comes from Hoplog.{' '}
            {/* Beside this page: the secret can't be shown again. */}
            <Anchor
              href="/console/settings/developers?snippet=verify"
              target="_blank"
              rel="noopener"
              underline="always"
            >
              How to verify a message
            </Anchor>
          </Text>
        </SecretMade>
      ) : (
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Stack gap="md">
            <FulfilmentFields
              draft={draft}
              existing={fulfilment}
              error={error}
              change={(part: Partial<FulfilmentDraft>) => setDraft({ ...draft, ...part })}
            />
            {error !== null && !isAboutAField && (
              <Alert color="red" variant="outline" role="alert" tabIndex={-1} title="Not saved">
                {sentenceOf(error)}
              </Alert>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" loading={save.isPending}>
                {fulfilment ? 'Save' : 'Deliver credits'}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
