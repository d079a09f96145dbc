import { Alert, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiFailure } from '../api/failures.ts';
import { sentenceOf } from '../api/sentence.ts';
import { SmallNote } from './note.tsx';

type Props = {
  error: unknown;
  /** Retries. */
  again?: () => void;
  /** The title, if not that of a failed read. */
  title?: string;
};

/** Shows the server's message with the request ID for support, and a retry button. */
export function FailureNotice({ error, again, title }: Props) {
  const requestId = error instanceof ApiFailure ? error.requestId : null;
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle />}
      title={title ?? titleOf(error)}
      role="alert"
    >
      <Text size="sm">{sentenceOf(error)}</Text>
      <Group mt="sm" gap="sm">
        {again && (
          <Button size="xs" variant="default" onClick={again}>
            Try again
          </Button>
        )}
        {requestId && <SmallNote>Request {requestId}</SmallNote>}
      </Group>
    </Alert>
  );
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiFailure)) return 'This part failed to load';
  if (error.status === 402) return 'Your plan does not include this';
  if (error.status === 403) return 'Your role does not allow this';
  if (error.status === 404) return 'Not found';
  return error.status === 0 ? 'No answer' : 'Failed to load';
}
