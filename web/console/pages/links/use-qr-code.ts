import { notifications } from '@mantine/notifications';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { AppError } from '../../../../core/errors.ts';
import { qrAddress } from '../../../../core/qr/layout.ts';
import type { LinkRecord } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { saveFile } from '../../parts/save-file.ts';
import {
  frameOf,
  PLAIN_STYLE,
  placesOf,
  type QrStyle,
  qrModules,
  qrPng,
  qrSvg,
  type WrongStyle,
} from './qr-code.ts';

/**
 * A link's QR code.
 *
 * @param style null: it loads
 */
export function useQrCode(link: Pick<LinkRecord, 'slug' | 'short_url'>, style: QrStyle | null = PLAIN_STYLE) {
  const alt = `QR code that leads to ${link.short_url}`;
  const isOfWorkspace = style?.logo === 'workspace';
  const settings = useApi<{ logo: string | null }>(isOfWorkspace ? '/workspace' : null);
  const own = style === null || style.logo === 'none' ? null : style.logo;
  const logo = isOfWorkspace ? (settings.data?.logo ?? null) : own;
  const code = useQuery({
    queryKey: ['qr', link.short_url, logo !== null],
    queryFn: () => qrModules(qrAddress(link.short_url), logo !== null),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  const text = style === null || style.frame === 'none' ? null : style.frame_text;
  const words = useQuery({
    queryKey: ['words of a frame', text],
    queryFn: async () => {
      const { frameWords } = await import('../../../../core/qr/words.ts');
      return attempt(() => frameWords(text ?? ''));
    },
    enabled: text !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  });
  const modules = code.isPlaceholderData ? undefined : code.data;
  const said = text === null ? { made: null } : words.data;
  const isReady = style !== null && !(isOfWorkspace && settings.isPending);
  const drawn =
    isReady && modules && said && 'made' in said
      ? attempt(() => {
          const frame = frameOf(style, said.made);
          return { svg: qrSvg(modules, alt, style, logo, frame), frame };
        })
      : said;
  const made = drawn && 'made' in drawn && drawn.made && 'svg' in drawn.made ? drawn.made : null;
  const place = modules && made ? placesOf(modules, made.frame) : { width: 1, height: 1 };
  return {
    alt,
    /** The code; null while it is made, and when it can't be drawn. */
    svg: made?.svg ?? null,
    /** Height of the image for each pixel of its width. */
    ratio: place.height / place.width,
    wrong: drawn && 'wrong' in drawn ? drawn.wrong : null,
    failure: code.error ?? words.error,
    saveSvg: () => {
      if (made) saveFile(`qr-${link.slug}.svg`, new Blob([made.svg], { type: 'image/svg+xml' }));
    },
    savePng: async () => {
      if (!modules || !made) return;
      try {
        saveFile(`qr-${link.slug}.png`, await qrPng(made.svg, modules, logo, made.frame));
      } catch (error) {
        notifications.show({ message: sentenceOf(error), color: 'red' });
      }
    },
  };
}

/** Returns what is made, or the field that prevents it. */
function attempt<Made>(make: () => Made): { made: Made } | { wrong: WrongStyle } {
  try {
    return { made: make() };
  } catch (error) {
    const [detail] = error instanceof AppError ? (error.details ?? []) : [];
    if (!detail) throw error;
    const field = detail.path === 'background' || detail.path === 'frame_text' ? detail.path : 'color';
    return { wrong: { field, message: detail.message } };
  }
}
