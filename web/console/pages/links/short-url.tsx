import { Anchor, Group, Text } from '@mantine/core';
import type { LinkRecord } from '../../api/links.ts';
import { CopyButton } from '../../parts/copy-button.tsx';

/** A link's short URL with a copy button. */
export const ShortUrl = ({ link }: { link: LinkRecord }) => (
  <Group gap="sm" wrap="nowrap">
    <Text size="lg" fw={600} miw={0} style={{ overflowWrap: 'anywhere' }}>
      <Anchor href={link.short_url} target="_blank" rel="noreferrer" inherit underline="always">
        {link.short_url}
      </Anchor>
    </Text>
    <CopyButton value={link.short_url} what="the short URL" />
  </Group>
);
