import { Button, Stack, TextInput } from '@mantine/core';
import { fieldError, messageOf } from '../../api/failures.ts';
import { sentence } from '../../api/sentence.ts';
import { Note } from '../../parts/note.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { SignInFailure } from './sign-in-failure.tsx';

/** The second step of a sign-in by password: a code of the authenticator app, or a recovery code. */
export function CodeForm({
  code,
  onChange,
  pending,
  failure,
  onSubmit,
  onBack,
}: {
  code: string;
  onChange: (code: string) => void;
  pending: boolean;
  failure: unknown;
  onSubmit: () => void;
  onBack: () => void;
}) {
  const wrong = fieldError(failure, 'code');
  return (
    <>
      <PageHeader title="Enter a code" />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <Stack gap="md">
          {failure !== null && wrong === null && <SignInFailure message={messageOf(failure)} />}
          <TextInput
            label="Code"
            description="Six digits of your authenticator app, or a recovery code."
            autoComplete="one-time-code"
            data-autofocus
            // The code is the only input of the page.
            autoFocus
            maxLength={40}
            value={code}
            error={wrong && sentence(`code ${wrong}`)}
            onChange={(event) => onChange(event.currentTarget.value)}
          />
          <Button type="submit" loading={pending}>
            Sign in
          </Button>
          <Button variant="subtle" onClick={onBack}>
            Back
          </Button>
          <Note>
            Lost the app and the recovery codes? The operator of this service can turn off two-factor sign-in
            for you.
          </Note>
        </Stack>
      </form>
    </>
  );
}
