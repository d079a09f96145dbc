import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/** A page's one heading of level 1, its title in the browser, and its actions. */
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
