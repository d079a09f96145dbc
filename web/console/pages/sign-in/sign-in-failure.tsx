import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { sentence } from '../../api/sentence.ts';

/** Failure of a sign-in, announced to screen readers. */
export function SignInFailure({ message }: { message: string }) {
  return (
    <Alert color="red" variant="outline" icon={<IconAlertTriangle />} role="alert">
      {sentence(message)}
    </Alert>
  );
}
