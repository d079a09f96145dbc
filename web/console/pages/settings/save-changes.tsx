import { Alert, Button, Group, List, Text } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = {
  /** What each change does, in words. */
  effects: readonly string[];
  /** Why the changes were not saved, if no field shows it. */
  failure: string | null;
  discard: () => void;
  /** The button that saves. */
  children: ReactNode;
};

/** The end of a form of settings: what its changes do, before they are saved, and the buttons. */
export const SaveChanges = ({ effects, failure, discard, children }: Props) => (
  <>
    {effects.length > 0 && (
      <Alert color="blue" variant="outline" role="status" title="What this changes">
        <List size="sm" styles={{ item: { overflowWrap: 'anywhere' } }}>
          {effects.map((effect) => (
            <List.Item key={effect}>{effect}</List.Item>
          ))}
        </List>
      </Alert>
    )}
    {failure !== null && (
      <Text size="sm" c="red.8" role="alert">
        {failure}
      </Text>
    )}
    <Group gap="xs">
      {children}
      {effects.length > 0 && (
        <Button variant="default" onClick={discard}>
          Discard
        </Button>
      )}
    </Group>
  </>
);
