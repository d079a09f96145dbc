import { ActionIcon, Group, Title } from '@mantine/core';
import { IconHelp } from '@tabler/icons-react';
import { type ReactNode, useContext, useEffect } from 'react';
import { GuideContext } from './guide.ts';

/**
 * The page's h1, document title, guide and actions.
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
  const guide = useContext(GuideContext);
  useEffect(() => {
    document.title = `${title} – Hoplog`;
  }, [title]);
  return (
    // As high as a button, which may come with the data.
    <Group justify="space-between" mb="md" gap="sm" mih={36}>
      <Group gap={4} wrap="nowrap" miw={0}>
        <Title order={1} size="h2" miw={0} style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {guide !== null && (
          <ActionIcon
            component="a"
            href={guide}
            target="_blank"
            variant="subtle"
            color="gray"
            aria-label="The guide to this page"
            title="The guide to this page"
          >
            <IconHelp size={18} stroke={1.6} />
          </ActionIcon>
        )}
      </Group>
      {children && (
        <Group gap="sm" className={isBar ? 'action-bar' : undefined}>
          {children}
        </Group>
      )}
    </Group>
  );
}
