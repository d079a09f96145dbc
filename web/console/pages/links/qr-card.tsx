import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload, IconPalette } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { messageOf } from '../../api/failures.ts';
import type { LinkRecord } from '../../api/links.ts';
import { useSession } from '../../api/session.ts';
import { svgUrl } from './qr-code.ts';
import { useQrCode } from './use-qr-code.ts';
import { useQrStyle } from './use-qr-style.ts';

const QrDialog = lazy(() => import('./qr-dialog.tsx'));

const WIDTH = 180;

/** The QR code of a link with its downloads. An operator designs it in a dialog. */
export function QrCard({ link }: { link: LinkRecord }) {
  const { can } = useSession();
  const design = useQrStyle(link.id);
  const { alt, svg, ratio, failure, saveSvg, savePng } = useQrCode(link, design.style);
  const [opened, { open, close }] = useDisclosure(false);
  const wrong = failure ?? design.failure;
  return (
    <Paper withBorder p="md" component="section" aria-label="QR code">
      <Stack align="center" gap="sm">
        {svg !== null ? (
          <img src={svgUrl(svg)} alt={alt} width={WIDTH} height={Math.round(ratio * WIDTH)} />
        ) : wrong ? (
          <Text size="sm">The QR code failed: {messageOf(wrong)}</Text>
        ) : (
          <Skeleton width={WIDTH} height={WIDTH} />
        )}
        <Group gap="xs" justify="center">
          {(
            [
              ['SVG', saveSvg],
              ['PNG', savePng],
            ] as const
          ).map(([format, save]) => (
            <Button
              key={format}
              size="xs"
              variant="default"
              disabled={svg === null}
              leftSection={<IconDownload size={16} />}
              onClick={() => void save()}
            >
              {format}
            </Button>
          ))}
          {can('operator') && (
            <Button
              size="xs"
              variant="default"
              disabled={design.style === null}
              leftSection={<IconPalette size={16} />}
              onClick={open}
            >
              Design
            </Button>
          )}
        </Group>
      </Stack>
      {opened && design.style && (
        <Suspense fallback={null}>
          <QrDialog link={link} before={design.style} design={design} close={close} />
        </Suspense>
      )}
    </Paper>
  );
}
