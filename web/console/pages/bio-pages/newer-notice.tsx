import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { nameOf } from './problems.ts';
import type { Newer } from './use-saving.ts';

/** Says that someone else has saved the page, and which changes a save would overwrite. */
export function NewerNotice({ fields, deleted, load, overwrite }: Newer) {
  return (
    <Alert
      color="red"
      variant="outline"
      icon={<IconAlertTriangle />}
      title="This page has changed"
      role="alert"
      p="xs"
      mb="sm"
    >
      <Stack gap="xs">
        <Text size="sm">
          Someone else or an API client has changed: {fields.map(nameOf).join(', ')}. Your changes are not
          saved. Loading the newer version discards your changes to these fields only.
        </Text>
        {deleted.length > 0 && (
          <Text size="sm">
            Overwriting deletes these buttons with their short links and clicks: {deleted.join(', ')}.
          </Text>
        )}
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={load}>
            Load the newer version
          </Button>
          <Button size="xs" color="red.8" onClick={overwrite}>
            Overwrite
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
