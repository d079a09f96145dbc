import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { SecretOnce } from './secret-once.tsx';

/** What a dialog shows after it made a secret. Give the dialog `STAYS`, so that a slip does not close it. */
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
  // The button that was pressed is gone: without this the keyboard would begin outside of the dialog.
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

/** For a dialog while it shows a secret: only its button closes it. */
export const STAYS = { closeOnClickOutside: false, closeOnEscape: false, withCloseButton: false };
