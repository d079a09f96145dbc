import { useLocalStorage } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { AppError } from '../../../../core/errors.ts';
import { qrAddress } from '../../../../core/qr/layout.ts';
import type { LinkRecord } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { saveFile } from '../../parts/save-file.ts';
import { PLAIN_STYLE, type QrStyle, qrModules, qrPng, qrSvg, type WrongColor } from './qr-code.ts';

/** A link's QR code in the style that the person chose for all links of the workspace. */
export function useQrCode(link: Pick<LinkRecord, 'slug' | 'short_url'>) {
  const { workspace } = useSession();
  const alt = `QR code that leads to ${link.short_url}`;
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
  const drawn = modules && draw(() => qrSvg(modules, alt, style, logo));
  const svg = drawn && 'svg' in drawn ? drawn.svg : null;
  return {
    alt,
    style,
    setStyle,
    /** Whether the workspace has a logo; null: not known yet. */
    hasLogo: settings.data ? settings.data.logo !== null : null,
    /** The code; null while it is made, and when it can't be drawn. */
    svg,
    /** A color that scanners could not read. */
    wrong: drawn && 'wrong' in drawn ? drawn.wrong : null,
    failure: code.error,
    saveSvg: () => {
      if (svg !== null) saveFile(`qr-${link.slug}.svg`, new Blob([svg], { type: 'image/svg+xml' }));
    },
    savePng: async () => {
      if (!modules || svg === null) return;
      try {
        saveFile(`qr-${link.slug}.png`, await qrPng(svg, modules, logo));
      } catch (error) {
        notifications.show({ message: sentenceOf(error), color: 'red' });
      }
    },
  };
}

function draw(svgOf: () => string): { svg: string } | { wrong: WrongColor } {
  try {
    return { svg: svgOf() };
  } catch (error) {
    const [detail] = error instanceof AppError ? (error.details ?? []) : [];
    if (!detail) throw error;
    return {
      wrong: { field: detail.path === 'background' ? 'background' : 'color', message: detail.message },
    };
  }
}
