import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ApiFailure, fieldError, messageOf } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { sentence } from '../../api/sentence.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { SignInFailure } from '../sign-in/sign-in-failure.tsx';
import type { SignInMethods } from './own-passkeys.tsx';

const LEAST = 8;

/** Sets or changes the member's password. @param email for password managers */
export function OwnPassword({ email }: { email: string }) {
  const ways = useApi<SignInMethods>('/passkeys');
  return (
    <Section
      title="Password"
      about={`At least ${LEAST} characters. When it changes, you are signed out everywhere else.`}
    >
      <QueryView query={ways} lines={2}>
        {({ has_password }) => (
          // A new form after a password is set, because it then asks for the current one.
          <PasswordForm key={String(has_password)} email={email} hasPassword={has_password} />
        )}
      </QueryView>
    </Section>
  );
}

function PasswordForm({ email, hasPassword }: { email: string; hasPassword: boolean }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const send = useSend<void>(
    () => ({
      path: '/session/password',
      body: { password: next, ...(hasPassword && { current_password: current }) },
    }),
    { refresh: ['/passkeys', '/sessions'], done: 'Your password is set', tellFailure: false },
  );
  const wrong = (path: string, name: string) => {
    const message = fieldError(send.error, path);
    return message && sentence(`${name} ${message}`);
  };
  const isElsewhere = send.isError && !(send.error instanceof ApiFailure && send.error.details.length > 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate(undefined, {
      onSuccess: () => {
        setCurrent('');
        setNext('');
      },
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" maw={400}>
        {isElsewhere && <SignInFailure message={messageOf(send.error)} />}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        {hasPassword && (
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            maxLength={200}
            value={current}
            error={wrong('current_password', 'current password')}
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          label="New password"
          autoComplete="new-password"
          maxLength={200}
          value={next}
          error={
            send.isError && next.length < LEAST
              ? `New password must have at least ${LEAST} characters.`
              : wrong('password', 'new password')
          }
          onChange={(event) => setNext(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" variant="default" loading={send.isPending}>
            {hasPassword ? 'Change the password' : 'Set a password'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
