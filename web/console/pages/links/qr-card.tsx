import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { messageOf } from '../../api/failures.ts';
import type { LinkRecord } from '../../api/links.ts';
import { svgUrl } from './qr-code.ts';
import { QrStyleForm } from './qr-style-form.tsx';
import { useQrCode } from './use-qr-code.ts';

const WIDTH = 180;

/** The QR code of a link, its colors and logo, with downloads. */
export function QrCard({ link }: { link: LinkRecord }) {
  const { alt, style, setStyle, hasLogo, svg, wrong, failure, saveSvg, savePng } = useQrCode(link);
  return (
    <Paper withBorder p="md" component="section" aria-label="QR code">
      <Stack align="center" gap="sm">
        {svg !== null ? (
          <img src={svgUrl(svg)} alt={alt} width={WIDTH} height={WIDTH} />
        ) : failure ? (
          <Text size="sm">The QR code failed: {messageOf(failure)}</Text>
        ) : (
          <Skeleton width={WIDTH} height={WIDTH} animate={!wrong} />
        )}
        <Group gap="xs">
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
        </Group>
        <QrStyleForm style={style} onChange={setStyle} hasLogo={hasLogo} wrong={wrong} />
      </Stack>
    </Paper>
  );
}
