import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { messageOf } from '../../api/failures.ts';
import { useApi, useOneMutation } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import type { Session } from '../../api/session.ts';
import { Note } from '../../parts/note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { CodeForm } from './code-form.tsx';
import { passkeyFailure, passkeysWork, signWithPasskey } from './passkeys.ts';
import { failureOfProvider, ProviderButton } from './provider.tsx';
import { SignInFailure } from './sign-in-failure.tsx';

type SignIn = ResponseOf<'/session', 'post'>;

/**
 * Sign-in by email and password, or by passkey.
 *
 * @param onAdded called with the session of a workspace that is added to those of the browser. Left out: the sign-in
 *   ends the browser's other sessions
 */
export default function SignInPage({ onAdded }: { onAdded?: (session: Session) => void }) {
  const keep = onAdded !== undefined;
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [workspace, setWorkspace] = useState<string>();
  const enter = async (session: Session) => {
    if (onAdded) onAdded(session);
    else await queries.invalidateQueries({ queryKey: ['/session'] });
  };
  const withPassword = useOneMutation<{ workspace_id?: string; code?: string }, SignIn>({
    mutationFn: (more) =>
      callApi<SignIn>('/session', { method: 'POST', body: { email, password, keep, ...more } }),
    onSuccess: async ({ session }) => {
      if (session) await enter(session);
    },
  });
  const choose = (id: string) => {
    setWorkspace(id);
    withPassword.mutate({ workspace_id: id });
  };
  const startOver = () => {
    setWorkspace(undefined);
    setCode('');
    withPassword.reset();
  };
  const withPasskey = useOneMutation<void, Session>({
    mutationFn: async () =>
      callApi<Session>('/session/passkey', {
        method: 'POST',
        body: { passkey: await signWithPasskey(), keep },
      }),
    onSuccess: enter,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    withPasskey.reset();
    withPassword.mutate({});
  };

  // Stays while a code is checked, and after a wrong one.
  const asksForCode = withPassword.data?.code_required || withPassword.variables?.code !== undefined;
  if (asksForCode) {
    return (
      <CodeForm
        code={code}
        onChange={setCode}
        pending={withPassword.isPending}
        failure={withPassword.error}
        onSubmit={() => withPassword.mutate({ code, ...(workspace && { workspace_id: workspace }) })}
        onBack={startOver}
      />
    );
  }
  const providerFailure = withPassword.isIdle && withPasskey.isIdle ? failureOfProvider() : null;
  const choices = withPassword.data?.workspaces ?? [];
  if (choices.length > 0) {
    return (
      <>
        <PageHeader title="Choose a workspace" />
        <Stack gap="sm">
          {choices.map(({ id, name }) => (
            <Button key={id} variant="default" size="md" onClick={() => choose(id)}>
              {name}
            </Button>
          ))}
          <Button variant="subtle" onClick={startOver}>
            Back
          </Button>
        </Stack>
      </>
    );
  }
  return (
    <>
      <PageHeader title={keep ? 'Sign in to another workspace' : 'Sign in'} />
      <Stack gap="md">
        {providerFailure && <SignInFailure message={providerFailure} />}
        {withPassword.isError && <SignInFailure message={messageOf(withPassword.error)} />}
        {withPasskey.isError && <SignInFailure message={passkeyFailure(withPasskey.error)} />}
        <form onSubmit={submit}>
          <Stack gap="sm">
            <TextInput
              type="email"
              label="Email"
              autoComplete="username"
              required
              withAsterisk={false}
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              withAsterisk={false}
              maxLength={200}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
            <Button type="submit" mt="xs" loading={withPassword.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
        {passkeysWork() && (
          <>
            <Divider label="or" />
            <Button
              variant="default"
              leftSection={<IconFingerprint size={18} stroke={1.6} aria-hidden />}
              loading={withPasskey.isPending}
              onClick={() => {
                withPassword.reset();
                withPasskey.mutate();
              }}
            >
              Sign in with a passkey
            </Button>
          </>
        )}
        {!keep && <ProviderButton />}
        {!keep && <ForgottenPassword />}
        <Note>Cannot sign in? Ask an owner of your workspace for an invitation.</Note>
      </Stack>
    </>
  );
}

/** The way to another password, where the service sends mail. */
function ForgottenPassword() {
  const { data } = useApi<ResponseOf<'/session/provider'>>('/session/provider');
  if (!data?.password_reset) return null;
  return (
    <Text size="sm">
      <Anchor href="/console/forgot-password" underline="always">
        Forgot your password?
      </Anchor>
    </Text>
  );
}
