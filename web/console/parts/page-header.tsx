import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';

/**
 * The page's h1, document title and actions.
 *
 * @param isBar a phone shows the actions in a bar at the bottom of the window
 */
export function PageHeader({
  title,
  isBar = false,
  children,
}: {
  title: string;
  isBar?: boolean;
  children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} – Hoplog`;
  }, [title]);
  return (
    // As high as a button, which may come with the data.
    <Group justify="space-between" mb="md" gap="sm" mih={36}>
      <Title order={1} size="h2" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      {children && (
        <Group gap="sm" className={isBar ? 'action-bar' : undefined}>
          {children}
        </Group>
      )}
    </Group>
  );
}
