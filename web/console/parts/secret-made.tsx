import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { SecretOnce } from './secret-once.tsx';

/** Shows a new secret in a dialog. Give the dialog `STAYS`, so that it is not closed by accident. */
export function SecretMade({
  value,
  what,
  children,
  onDone,
}: {
  value: string;
  what: string;
  children?: ReactNode;
  onDone: () => void;
}) {
  const done = useRef<HTMLButtonElement>(null);
  // The pressed button is gone: the focus would leave the dialog.
  useEffect(() => done.current?.focus(), []);
  return (
    <Stack gap="md">
      <SecretOnce value={value} what={what} />
      {children}
      <Group justify="flex-end">
        <Button ref={done} onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

/** Props of a dialog that only its button closes. */
export const STAYS = { closeOnClickOutside: false, closeOnEscape: false, withCloseButton: false };
