import { Group, Paper, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Note } from './note.tsx';

/** A section with heading, description and action. */
export function Section({
  title,
  about,
  action,
  children,
}: {
  title: string;
  about?: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Paper component="section" withBorder p="md" mb="md" aria-label={title}>
      <Group justify="space-between" align="flex-start" mb="sm" gap="sm">
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
          {about && <Note>{about}</Note>}
        </div>
        {action}
      </Group>
      {children}
    </Paper>
  );
}
