import { Alert, Code, Group, Text } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/** A secret that the server shows once: a key's token, a webhook's signing secret. */
export function SecretOnce({ value, what }: { value: string; what: string }) {
  return (
    <Alert color="yellow" variant="outline" title={`Your new ${what}`} role="status">
      <Text size="sm">Copy it now. It is not shown again.</Text>
      <Group mt="xs" gap="xs" wrap="nowrap">
        <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
        <CopyButton value={value} what={what} />
      </Group>
    </Alert>
  );
}
