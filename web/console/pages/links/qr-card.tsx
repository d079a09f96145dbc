import { Button, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconDownload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { AppError } from '../../../../core/errors.ts';
import { qrAddress } from '../../../../core/qr/layout.ts';
import { messageOf } from '../../api/failures.ts';
import type { LinkRecord } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { saveFile } from '../../parts/save-file.ts';
import { PLAIN_STYLE, type QrStyle, qrModules, qrPng, qrSvg, svgUrl } from './qr-code.ts';
import { QrStyleForm } from './qr-style-form.tsx';

const WIDTH = 180;

type Drawn = { svg: string } | { wrong: { field: 'color' | 'background'; message: string } };

/** The QR code of a link, its colors and logo, with downloads. */
export function QrCard({ link }: { link: LinkRecord }) {
  const { workspace } = useSession();
  const alt = `QR code that leads to ${link.short_url}`;
  // A brand's colors are those of its other links as well.
  const [style, setStyle] = useLocalStorage<QrStyle>({
    key: `hoplog-qr-style-${workspace.id}`,
    defaultValue: PLAIN_STYLE,
  });
  const settings = useApi<{ logo: string | null }>('/workspace');
  const logo = style.hasLogo ? (settings.data?.logo ?? null) : null;
  const code = useQuery({
    queryKey: ['qr', link.short_url, logo !== null],
    queryFn: () => qrModules(qrAddress(link.short_url), logo !== null),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const modules = code.isPlaceholderData ? undefined : code.data;
  const draw = (chosen: QrStyle): Drawn | undefined => {
    if (!modules) return undefined;
    try {
      return { svg: qrSvg(modules, alt, chosen, logo) };
    } catch (error) {
      const [detail] = error instanceof AppError ? (error.details ?? []) : [];
      if (!detail) throw error;
      return {
        wrong: { field: detail.path === 'background' ? 'background' : 'color', message: detail.message },
      };
    }
  };
  const drawn = draw(style);
  const svg = drawn && 'svg' in drawn ? drawn.svg : undefined;
  const savePng = async () => {
    if (!modules || svg === undefined) return;
    try {
      saveFile(`qr-${link.slug}.png`, await qrPng(svg, modules, logo));
    } catch (error) {
      notifications.show({ message: sentenceOf(error), color: 'red' });
    }
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="QR code">
      <Stack align="center" gap="sm">
        {svg !== undefined ? (
          <img src={svgUrl(svg)} alt={alt} width={WIDTH} height={WIDTH} />
        ) : code.isError ? (
          <Text size="sm">The QR code failed: {messageOf(code.error)}</Text>
        ) : (
          <Skeleton width={WIDTH} height={WIDTH} animate={!drawn} />
        )}
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            disabled={svg === undefined}
            leftSection={<IconDownload size={16} />}
            onClick={() =>
              svg !== undefined && saveFile(`qr-${link.slug}.svg`, new Blob([svg], { type: 'image/svg+xml' }))
            }
          >
            SVG
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={svg === undefined}
            leftSection={<IconDownload size={16} />}
            onClick={() => void savePng()}
          >
            PNG
          </Button>
        </Group>
        <QrStyleForm
          style={style}
          onChange={setStyle}
          hasLogo={settings.data ? settings.data.logo !== null : null}
          wrong={drawn && 'wrong' in drawn ? drawn.wrong : null}
        />
      </Stack>
    </Paper>
  );
}
