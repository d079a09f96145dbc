import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { sentenceOf } from '../api/sentence.ts';
import { takesText } from './takes-text.ts';

/** How long a change can be undone; it waits while the pointer or the focus is on the notice. Milliseconds. */
const UNDO_MS = 10_000;

/** The newest change that can be undone; Ctrl Z undoes it. */
let newest: { id: string; undo: () => void } | null = null;

/** Says that a change was made, and offers to undo it for some seconds. */
export function showUndo(message: string, undo: () => Promise<void>): void {
  let isStarted = false;
  const close = () => {
    if (newest?.id === id) newest = null;
  };
  const run = async () => {
    if (isStarted) return;
    isStarted = true;
    close();
    try {
      await undo();
      notifications.update({ id, message: 'Undone', color: 'hop', autoClose: 4_000 });
    } catch (error) {
      notifications.update({ id, message: sentenceOf(error), color: 'red', autoClose: 10_000 });
    }
  };
  const id = notifications.show({
    message: <UndoNotice message={message} undo={run} />,
    color: 'hop',
    autoClose: UNDO_MS,
    onClose: close,
  });
  newest = { id, undo: () => void run() };
  window.addEventListener('keydown', onKey);
}

function onKey(event: KeyboardEvent): void {
  if (newest === null) {
    window.removeEventListener('keydown', onKey);
    return;
  }
  const { target, key, ctrlKey, metaKey, shiftKey } = event;
  // In a field, Ctrl Z undoes typing.
  if (takesText(target) || shiftKey || !(ctrlKey || metaKey) || key.toLowerCase() !== 'z') return;
  event.preventDefault();
  newest.undo();
}

function UndoNotice({ message, undo }: { message: string; undo: () => Promise<void> }) {
  const [isPending, setPending] = useState(false);
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {message}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        title="Ctrl Z"
        aria-keyshortcuts="Control+Z"
        loading={isPending}
        onClick={() => {
          setPending(true);
          void undo();
        }}
      >
        Undo
      </Button>
    </Group>
  );
}
