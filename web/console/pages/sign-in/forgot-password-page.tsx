import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { fieldError, messageOf } from '../../api/failures.ts';
import { useOneMutation } from '../../api/queries.ts';
import { sentence } from '../../api/sentence.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Note } from '../../parts/note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SignInFailure } from './sign-in-failure.tsx';

/** Requests the mail with a link that sets another password. Its result never says whether the address has an account. */
export default function ForgotPasswordPage() {
  const [email, setEmail] = useState('');
  const request = useOneMutation<void, unknown>({
    mutationFn: () => callApi('/session/password-reset', { method: 'POST', body: { email } }),
  });
  const wrong = fieldError(request.error, 'email');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    request.mutate();
  };
  return (
    <>
      <PageHeader title="Reset your password" />
      {request.isSuccess ? (
        <div role="status">
          <EmptyState title="Look into your mail">
            If {email} signs in here with a password, a link is on its way. It works once, for an hour. Look
            for it among unwanted mail too.
          </EmptyState>
        </div>
      ) : (
        <form onSubmit={submit} noValidate>
          <Stack gap="md">
            {request.error !== null && wrong === null && <SignInFailure message={messageOf(request.error)} />}
            <TextInput
              type="email"
              label="Email"
              description="The address with which you sign in."
              autoComplete="username"
              value={email}
              error={wrong && sentence(`email ${wrong}`)}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" loading={request.isPending}>
              Send the link
            </Button>
            <Note>Two-factor sign-in stays on: have your authenticator app or a recovery code at hand.</Note>
          </Stack>
        </form>
      )}
      <ToSignIn />
    </>
  );
}

/** The link to the sign-in, below a page for signed-out users. */
export function ToSignIn() {
  return (
    <Text ta="center" size="sm" mt="md">
      <Anchor href="/console" underline="always">
        Go to the sign-in
      </Anchor>
    </Text>
  );
}
