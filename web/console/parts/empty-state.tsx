import { Center, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Note } from './note.tsx';

/** Empty state: what is missing, how to get it, and optionally a button. */
export function EmptyState({
  title,
  children,
  action,
}: {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <Center mih={160} p="md">
      <Stack gap="xs" align="center" maw={420}>
        <Text fw={600} ta="center">
          {title}
        </Text>
        {children && <Note ta="center">{children}</Note>}
        {action}
      </Stack>
    </Center>
  );
}
