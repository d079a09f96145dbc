import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { SecretOnce } from './secret-once.tsx';

/**
 * Shows a new secret in a dialog that `stays`.
 *
 * @param lost what to do when the response was lost: the server can't return the secret again
 */
export function SecretMade({
  value,
  lost,
  what,
  children,
  onDone,
}: {
  value: string | null | undefined;
  lost: string;
  what: string;
  children?: ReactNode;
  onDone: () => void;
}) {
  const done = useRef<HTMLButtonElement>(null);
  // The pressed button is gone: the focus would leave the dialog.
  useEffect(() => done.current?.focus(), []);
  return (
    <Stack gap="md">
      <SecretOnce value={value ?? `The response was lost. ${lost}`} what={what} />
      {children}
      <Group justify="flex-end">
        <Button ref={done} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
