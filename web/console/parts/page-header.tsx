import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** The page's h1, document title and actions. */
export function PageHeader({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – Hoplog`;
  }, [title]);
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} size="h2" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      {children && <Group gap="sm">{children}</Group>}
    </Group>
  );
}
