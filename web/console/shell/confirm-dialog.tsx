import { Alert, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { callApi } from '../api/call.ts';
import { fieldError } from '../api/failures.ts';
import { useApi, useOneMutation } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { sentence } from '../api/sentence.ts';
import { passkeyFailure, passkeysWork, signWithPasskey } from '../pages/sign-in/passkeys.ts';
import { providerUrl } from '../pages/sign-in/provider.tsx';
import { Note } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { useFocusBack } from '../parts/use-focus-back.ts';

type Methods = ResponseOf<'/session/confirm'>;
/** The library's dialogs ignore Escape here: it closes this dialog only, not the one that asked for it. */
const OWN_ESCAPE = { 'data-mantine-stop-propagation': true };

/** The dialog of a confirmation. @param end called once with whether the member confirmed */
export default function ConfirmDialog({ end }: { end: (isConfirmed: boolean) => void }) {
  useFocusBack();
  const methods = useApi<Methods>('/session/confirm');
  return (
    <Modal
      opened
      zIndex={400}
      closeOnEscape={false}
      onKeyDown={({ key }) => {
        if (key === 'Escape') end(false);
      }}
      onClose={() => end(false)}
      title="Confirm that it is you"
      closeButtonProps={{ 'aria-label': 'Close', ...OWN_ESCAPE }}
    >
      <QueryView query={methods} lines={3}>
        {(data) => <Proofs methods={data} end={end} />}
      </QueryView>
    </Modal>
  );
}

function Proofs({ methods, end }: { methods: Methods; end: (isConfirmed: boolean) => void }) {
  const [isCode, setIsCode] = useState(!methods.password && methods.code);
  const [text, setText] = useState('');
  const path = isCode ? 'code' : 'password';
  const confirm = (body: object) => callApi('/session/confirm', { method: 'POST', body });
  const onSuccess = () => end(true);
  const typed = useOneMutation<void, unknown>({ mutationFn: () => confirm({ [path]: text }), onSuccess });
  const signed = useOneMutation<void, unknown>({
    mutationFn: async () => confirm({ passkey: await signWithPasskey() }),
    onSuccess,
  });
  const wrong = fieldError(typed.error, path);
  const failure = signed.error ?? (wrong === null ? typed.error : null);
  const hasPasskey = methods.passkey && passkeysWork();
  const field = {
    label: isCode ? 'Code' : 'Password',
    value: text,
    error: wrong && sentence(`${path} ${wrong}`),
    onChange: (event: { currentTarget: { value: string } }) => setText(event.currentTarget.value),
    'data-autofocus': true,
    ...OWN_ESCAPE,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signed.reset();
    typed.mutate();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm">
          You signed in more than ten minutes ago, and this change concerns access or money.
        </Text>
        {failure !== null && (
          <Alert color="red" variant="outline" role="alert">
            {sentence(passkeyFailure(failure))}
          </Alert>
        )}
        {isCode && (
          <TextInput
            {...field}
            description="Six digits of your authenticator app, or a recovery code."
            autoComplete="one-time-code"
            maxLength={40}
          />
        )}
        {!isCode && methods.password && (
          <PasswordInput
            {...field}
            autoComplete="current-password"
            maxLength={200}
            visibilityToggleButtonProps={OWN_ESCAPE}
          />
        )}
        {hasPasskey && (
          <Button
            variant="default"
            leftSection={<IconFingerprint size={18} stroke={1.6} aria-hidden />}
            loading={signed.isPending}
            onClick={() => {
              typed.reset();
              signed.mutate();
            }}
            {...OWN_ESCAPE}
          >
            Use a passkey
          </Button>
        )}
        {methods.provider !== null && (
          <div>
            <Button
              component="a"
              variant="default"
              fullWidth
              href={providerUrl({ confirm: true })}
              {...OWN_ESCAPE}
            >
              Sign in with {methods.provider} again
            </Button>
            <Note mt={4}>You come back to this page, and repeat the change.</Note>
          </div>
        )}
        {!methods.password && !methods.code && !hasPasskey && methods.provider === null && (
          <Text size="sm">Sign out and sign in again, then repeat the change.</Text>
        )}
        <Group justify="space-between">
          {methods.password && methods.code ? (
            <Button
              variant="subtle"
              px={0}
              {...OWN_ESCAPE}
              onClick={() => {
                setIsCode(!isCode);
                setText('');
                typed.reset();
              }}
            >
              {isCode ? 'Use the password' : 'Use a code'}
            </Button>
          ) : (
            <span />
          )}
          <Group gap="sm">
            <Button variant="default" onClick={() => end(false)} {...OWN_ESCAPE}>
              Cancel
            </Button>
            {(isCode || methods.password) && (
              <Button type="submit" loading={typed.isPending} {...OWN_ESCAPE}>
                Confirm
              </Button>
            )}
          </Group>
        </Group>
      </Stack>
    </form>
  );
}
