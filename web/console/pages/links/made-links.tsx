import { ActionIcon, Anchor, Box, Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';
import { channelName, plural } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { svgUrl } from './qr-code.ts';
import { useQrCode } from './use-qr-code.ts';

/** Side of the code of a link. CSS pixels. */
const WIDTH = 72;

/** Lists several created links. */
export function MadeLinks({
  links,
  again,
  alike,
}: {
  links: LinkRecord[];
  again: () => void;
  alike: () => void;
}) {
  return (
    <>
      <PageHeader title={`${plural(links.length, 'link', 'links')} made`} />
      <Stack maw={720} gap="sm">
        {links.map((link) => (
          <MadeLink key={link.id} link={link} />
        ))}
        <Group>
          <Button component={Link} href="/links">
            All links
          </Button>
          <Button variant="default" onClick={alike}>
            Make another like it
          </Button>
          <Button variant="default" onClick={again}>
            Make another
          </Button>
        </Group>
      </Stack>
    </>
  );
}

function MadeLink({ link }: { link: LinkRecord }) {
  const { alt, svg, savePng } = useQrCode(link);
  const download = `Download the QR code of ${link.slug}`;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap">
        {svg === null ? (
          <Skeleton width={WIDTH} height={WIDTH} style={{ flex: 'none' }} />
        ) : (
          <img src={svgUrl(svg)} alt={alt} width={WIDTH} height={WIDTH} />
        )}
        <Box miw={0} flex={1}>
          <Text fw={600} size="sm">
            {channelName(link.channel ?? 'smart')}
          </Text>
          <Anchor size="sm" truncate display="block" component={Link} href={`/links/${link.id}`}>
            {link.short_url}
          </Anchor>
        </Box>
        <ActionIcon
          variant="default"
          color="gray"
          size="lg"
          aria-label={download}
          title={download}
          disabled={svg === null}
          onClick={() => void savePng()}
        >
          <IconDownload size={18} stroke={1.6} />
        </ActionIcon>
        <CopyButton value={link.short_url} what={`the short URL of ${link.slug}`} />
      </Group>
    </Paper>
  );
}
