import { ActionIcon, Group, Title } from '@mantine/core';
import { IconHelp } from '@tabler/icons-react';
import { type ReactNode, useContext, useEffect } from 'react';
import { GuideContext } from './guide.ts';

/**
 * The page's h1, document title, guide and actions.
 *
 * @param isBar a phone shows the actions in a bar at the bottom of the window
 * @param isOneLine the actions stay beside the title on a phone too
 */
export function PageHeader({
  title,
  isBar = false,
  isOneLine = false,
  children,
}: {
  title: string;
  isBar?: boolean;
  isOneLine?: boolean;
  children?: ReactNode;
}) {
  const guide = useContext(GuideContext);
  useEffect(() => {
    document.title = `${title} – Hoplog`;
  }, [title]);
  return (
    // As high as a button, which may come with the data.
    <Group justify="space-between" mb="md" gap="sm" mih={36} wrap={isOneLine ? 'nowrap' : 'wrap'}>
      <Group gap={4} wrap="nowrap" miw={0}>
        <Title
          order={1}
          size="h2"
          miw={0}
          style={{ overflowWrap: 'anywhere' }}
          className={isOneLine ? 'one-line-title' : undefined}
        >
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
        <Group
          gap={isOneLine ? 'xs' : 'sm'}
          className={isBar ? 'action-bar' : undefined}
          wrap={isOneLine ? 'nowrap' : 'wrap'}
        >
          {children}
        </Group>
      )}
    </Group>
  );
}
