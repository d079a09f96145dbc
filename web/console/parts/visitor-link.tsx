import { Anchor, Group } from '@mantine/core';
import { Link } from 'wouter';
import { shortId } from './click-words.ts';
import { CopyButton } from './copy-button.tsx';

/** The end of a visitor's ID, which leads to the visitor, with a button that copies all of it. */
export const VisitorLink = ({ id }: { id: string }) => (
  <Group gap={4} wrap="nowrap">
    <Anchor component={Link} href={`/visitors/${id}`} size="sm" ff="monospace" title={id}>
      {shortId(id)}
    </Anchor>
    <CopyButton value={id} what={`the visitor ID ${shortId(id)}`} size="sm" />
  </Group>
);
