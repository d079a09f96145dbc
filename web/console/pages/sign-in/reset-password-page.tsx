import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { ApiFailure, fieldError, isRetryable, messageOf } from '../../api/failures.ts';
import { useOneMutation } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence } from '../../api/sentence.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { ToSignIn } from './forgot-password-page.tsx';
import { SignInFailure } from './sign-in-failure.tsx';

type ResetView = ResponseOf<'/session/password-reset/view', 'post'>;

const PASSWORD_LEAST = 8;
const isEnded = (error: unknown) => error instanceof ApiFailure && error.status === 401;

/** The page of a reset link. Its token is in the fragment, which is not sent to servers. */
export default function ResetPasswordPage() {
  const token = window.location.hash.slice(1);
  const [isDone, setDone] = useState(false);
  const reset = useQuery<ResetView>({
    queryKey: ['/session/password-reset/view', token],
    queryFn: () => callApi<ResetView>('/session/password-reset/view', { method: 'POST', body: { token } }),
    enabled: token !== '',
    // Setting the password consumes the link: do not refetch.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: (count, error) => count < 2 && isRetryable(error),
  });
  if (isDone) {
    return (
      <>
        <PageHeader title="Your password is set" />
        <div role="status">
          <EmptyState title="Sign in with it">
            All your sessions have ended, on this device too. Two-factor sign-in stays as it was.
          </EmptyState>
        </div>
        <ToSignIn />
      </>
    );
  }
  return (
    <>
      <PageHeader title="Set another password" />
      {token === '' || isEnded(reset.error) ? (
        <EmptyState title="This link is not valid">
          It works once and for an hour, and it must be whole.{' '}
          <Anchor href="/console/forgot-password" underline="always">
            Request another one
          </Anchor>
        </EmptyState>
      ) : (
        <QueryView query={reset}>
          {({ email }) => <PasswordForm email={email} token={token} onDone={() => setDone(true)} />}
        </QueryView>
      )}
      <ToSignIn />
    </>
  );
}

function PasswordForm({ email, token, onDone }: { email: string; token: string; onDone: () => void }) {
  const [password, setPassword] = useState('');
  const send = useOneMutation<void, unknown>({
    mutationFn: () =>
      callApi('/session/password-reset/complete', { method: 'POST', body: { token, password } }),
    onSuccess: onDone,
  });
  const isShort = send.isError && password.length < PASSWORD_LEAST;
  const wrong = isShort
    ? `must have at least ${PASSWORD_LEAST} characters`
    : fieldError(send.error, 'password');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {send.error !== null && !wrong && <SignInFailure message={messageOf(send.error)} />}
        <TextInput type="email" label="Email" autoComplete="username" readOnly value={email} />
        <PasswordInput
          label="New password"
          description={`At least ${PASSWORD_LEAST} characters. It holds in each workspace where you sign in with a password.`}
          autoComplete="new-password"
          maxLength={200}
          value={password}
          error={wrong && sentence(`password ${wrong}`)}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button type="submit" loading={send.isPending}>
          Set the password
        </Button>
      </Stack>
    </form>
  );
}
