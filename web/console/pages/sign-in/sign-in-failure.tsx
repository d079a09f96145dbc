import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { sentence } from '../../api/sentence.ts';

/** Why nobody was signed in, read out as soon as it appears. */
export function SignInFailure({ message }: { message: string }) {
  return (
    <Alert color="red" variant="outline" icon={<IconAlertTriangle />} role="alert">
      {sentence(message)}
    </Alert>
  );
}
