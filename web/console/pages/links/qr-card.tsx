import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { qrAddress } from '../../../../core/qr/layout.ts';
import { messageOf } from '../../api/failures.ts';
import type { LinkRecord } from '../../api/links.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { saveFile } from '../../parts/save-file.ts';
import { qrModules, qrPng, qrSvg } from './qr-code.ts';

const WIDTH = 180;

/** The QR code of a link, with downloads. */
export function QrCard({ link }: { link: LinkRecord }) {
  const alt = `QR code that leads to ${link.short_url}`;
  const code = useQuery({
    queryKey: ['qr', link.short_url],
    queryFn: () => qrModules(qrAddress(link.short_url)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const modules = code.data;
  const savePng = async () => {
    if (!modules) return;
    try {
      saveFile(`qr-${link.slug}.png`, await qrPng(modules));
    } catch (error) {
      notifications.show({ message: sentenceOf(error), color: 'red' });
    }
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="QR code">
      <Stack align="center" gap="sm">
        {modules ? (
          <img
            src={`data:image/svg+xml,${encodeURIComponent(qrSvg(modules, alt))}`}
            alt={alt}
            width={WIDTH}
            height={WIDTH}
          />
        ) : code.isError ? (
          <Text size="sm">The QR code failed: {messageOf(code.error)}</Text>
        ) : (
          <Skeleton width={WIDTH} height={WIDTH} />
        )}
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            disabled={!modules}
            leftSection={<IconDownload size={16} />}
            onClick={() =>
              modules &&
              saveFile(`qr-${link.slug}.svg`, new Blob([qrSvg(modules, alt)], { type: 'image/svg+xml' }))
            }
          >
            SVG
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={!modules}
            leftSection={<IconDownload size={16} />}
            onClick={() => void savePng()}
          >
            PNG
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
