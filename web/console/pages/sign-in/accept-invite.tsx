import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { callApi } from '../../api/call.ts';
import { ApiFailure, fieldError, messageOf } from '../../api/failures.ts';
import { useOneMutation } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import { Note } from '../../parts/note.tsx';
import { makePasskey, pageByName, passkeyFailure, passkeysWork } from './passkeys.ts';
import { ROLE_MEANINGS, ROLE_NAMES } from './roles.ts';
import { SignInFailure } from './sign-in-failure.tsx';

const PASSWORD_LEAST = 8;

export type InviteView = ResponseOf<'/session/invite/view', 'post'>;

/** The invited person chooses a passkey or password, and is signed in. */
export function AcceptInvite({ invite, token }: { invite: InviteView; token: string }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [said, setSaid] = useState('');
  const [password, setPassword] = useState('');
  const email = invite.email === null && said !== '' ? { email: said } : {};
  const onSuccess = async () => {
    await queries.resetQueries({ queryKey: ['/session'] });
    navigate('/', { replace: true });
  };
  const accept = (body: object) =>
    callApi('/session/invite', { method: 'POST', body: { token, keep: true, ...email, ...body } });
  const withPassword = useOneMutation<void, unknown>({ mutationFn: () => accept({ password }), onSuccess });
  const withPasskey = useOneMutation<void, unknown>({
    mutationFn: async () =>
      accept({ passkey: await makePasskey('/session/invite/passkey-options', { token, ...email }) }),
    onSuccess,
  });
  const failure = withPassword.error ?? withPasskey.error;
  const isShort = withPassword.isError && password.length < PASSWORD_LEAST;
  const passwordWrong = isShort
    ? `must have at least ${PASSWORD_LEAST} characters`
    : fieldError(withPassword.error, 'password');
  const lacksEmail = withPassword.isError && invite.email === null && said === '';
  const emailWrong = lacksEmail ? 'is required with a password' : fieldError(failure, 'email');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    withPasskey.reset();
    withPassword.mutate();
  };

  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text>
          You are invited as <strong>{ROLE_NAMES[invite.role]}</strong>: this role{' '}
          {ROLE_MEANINGS[invite.role]}.
        </Text>
        {failure !== null && !emailWrong && !passwordWrong && (
          <SignInFailure message={withPasskey.error ? passkeyFailure(failure) : messageOf(failure)} />
        )}
        {failure instanceof ApiFailure && failure.status === 409 && (
          <Anchor href="/console" underline="always" size="sm">
            Go to the sign-in
          </Anchor>
        )}
        <TextInput
          type="email"
          label="Email"
          description={invite.email === null ? 'Required to sign in with a password.' : undefined}
          autoComplete="username"
          readOnly={invite.email !== null}
          value={invite.email ?? said}
          error={emailWrong && sentence(`email ${emailWrong}`)}
          onChange={(event) => setSaid(event.currentTarget.value)}
        />
        <PasskeyChoice
          pending={withPasskey.isPending}
          onChoose={() => {
            withPassword.reset();
            withPasskey.mutate();
          }}
        />
        <PasswordInput
          label="Password"
          description={`At least ${PASSWORD_LEAST} characters.`}
          autoComplete="new-password"
          maxLength={200}
          value={password}
          error={passwordWrong && sentence(`password ${passwordWrong}`)}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant={passkeysWork() ? 'default' : 'filled'}
          loading={withPassword.isPending}
        >
          Set the password and sign in
        </Button>
      </Stack>
    </form>
  );
}

function PasskeyChoice({ pending, onChoose }: { pending: boolean; onChoose: () => void }) {
  const byName = pageByName();
  if (!passkeysWork()) {
    if (!byName) return null;
    return (
      <Note>
        To use a passkey instead of a password,{' '}
        <Anchor href={byName} underline="always">
          open this page as localhost
        </Anchor>
        : browsers keep passkeys for names, not for addresses.
      </Note>
    );
  }
  return (
    <>
      <Button
        leftSection={<IconFingerprint size={18} stroke={1.6} aria-hidden />}
        loading={pending}
        onClick={onChoose}
      >
        Use a passkey
      </Button>
      <Note>Use the fingerprint, face or PIN of your device, or a security key.</Note>
      <Divider label="or" />
    </>
  );
}
