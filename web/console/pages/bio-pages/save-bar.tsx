import { Alert, Button, Group, List, Paper, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect } from 'react';
import { ApiFailure } from '../../api/failures.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { NewerNotice } from './newer-notice.tsx';
import type { Saving } from './use-saving.ts';

type Props = Omit<Saving, 'saved' | 'draft' | 'change' | 'publish'>;

/** Keeps a focused field from being scrolled behind the bar. */
const ROOM = '96px';

/** Sticky bar with the save button, the unsaved state and the problems of the last save. */
export function SaveBar({ isDirty, isSaving, isDone, problems, error, newer, save, discard }: Props) {
  useEffect(() => {
    const { style } = document.documentElement;
    style.scrollPaddingBottom = ROOM;
    return () => {
      style.scrollPaddingBottom = '';
    };
  }, []);
  return (
    <Paper
      component="section"
      withBorder
      p="sm"
      mt="lg"
      pos="sticky"
      bottom={0}
      style={{ zIndex: 5 }}
      aria-label="Changes"
    >
      <NotSaved problems={problems} error={error} />
      {newer && <NewerNotice {...newer} />}
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed" role="status">
          {isDirty ? 'Not saved yet.' : isDone ? 'Saved.' : 'No changes.'}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Button variant="default" disabled={!isDirty || isSaving} onClick={discard}>
            Discard
          </Button>
          <Button disabled={!isDirty} loading={isSaving} onClick={save}>
            Save
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}

function NotSaved({ problems, error }: Pick<Props, 'problems' | 'error'>) {
  if (problems.length === 0 && error === null) return null;
  const requestId = error instanceof ApiFailure ? error.requestId : null;
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle />}
      title="Not saved"
      role="alert"
      p="xs"
      mb="sm"
    >
      {problems.length > 0 ? (
        <List size="sm">
          {problems.map(({ field, name, message }) => (
            <List.Item key={field}>
              {name}: {message}
            </List.Item>
          ))}
        </List>
      ) : (
        <Text size="sm">
          {sentenceOf(error)}
          {requestId && ` Request ${requestId}`}
        </Text>
      )}
    </Alert>
  );
}
