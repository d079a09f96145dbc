import { Anchor, Center, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useContext } from 'react';
import { GuideContext } from './guide.ts';
import { Note } from './note.tsx';

type Props = {
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /**
   * What the page will look like, of a page without any data: rows with their cells. It leads to the page's guide too.
   */
  example?: readonly (readonly string[])[];
};

/** Empty state: what is missing, how to get it, and optionally a button and an example of what comes. */
export function EmptyState({ title, children, action, example }: Props) {
  const guide = useContext(GuideContext);
  return (
    <Center mih={160} p="md">
      <Stack gap="xs" align="center" maw={560} w="100%">
        {example && <Example rows={example} />}
        <Text fw={600} ta="center">
          {title}
        </Text>
        {children && (
          <Note ta="center" maw={420} className="empty-words">
            {children}
          </Note>
        )}
        <Group gap="md" justify="center">
          {action}
          {example && guide !== null && (
            <Anchor href={guide} target="_blank" size="sm">
              Read the guide
            </Anchor>
          )}
        </Group>
      </Stack>
    </Center>
  );
}

/** Dimmed rows that screen readers skip, because they are not data. */
function Example({ rows }: { rows: readonly (readonly string[])[] }) {
  return (
    <div className="example-rows" aria-hidden>
      {rows.map(([first, ...others]) => (
        <div key={first}>
          <b>{first}</b>
          {others.map((cell) => (
            <span key={cell}>{cell}</span>
          ))}
        </div>
      ))}
    </div>
  );
}
