import { readColor, requireContrast } from '../../../../core/qr/colors.ts';
import {
  LOGO_LEVELS,
  logoSide,
  type QrModules,
  type QrShape,
  QUIET_ZONE,
} from '../../../../core/qr/layout.ts';
import { qrSvg as drawnSvg } from '../../../../core/qr/svg.ts';
import { hexOf } from '../../parts/css-colors.ts';

/** How a person wants a code: CSS colors, the shape of its modules, and the workspace's logo in the middle. */
export type QrStyle = { color: string; background: string; shape?: QrShape; hasLogo: boolean };

/** A color that scanners could not read. */
export type WrongColor = { field: 'color' | 'background'; message: string };

export const PLAIN_STYLE: QrStyle = {
  color: '#000000',
  background: '#ffffff',
  shape: 'square',
  hasLogo: false,
};

/** Minimum width of a PNG, in pixels. */
const PNG_WIDTH = 1_024;
/** Pixels of a module in the SVG, which scales to any size. */
const SVG_SCALE = 8;

/** The QR code of a text. Lazily loads the library. Level M tolerates 15% damage; one with a logo takes the highest. */
export async function qrModules(text: string, hasLogo = false): Promise<QrModules> {
  const { qrModules: codeOf } = await import('../../../../core/qr/code.ts');
  return codeOf(text, hasLogo ? (LOGO_LEVELS.at(-1) ?? 'H') : 'M');
}

/**
 * The code as SVG with quiet zone, black on white without a style.
 *
 * @param title for screen readers
 * @param logo data URL of an image for the middle
 * @throws {AppError} `bad_request` that names the color that scanners could not read
 */
export function qrSvg(
  modules: QrModules,
  title: string,
  { color, background, shape = 'square' }: QrStyle = PLAIN_STYLE,
  logo: string | null = null,
): string {
  const colors = {
    color: readColor('color', hexOf(color)),
    background: readColor('background', hexOf(background)),
  };
  const at = color === PLAIN_STYLE.color ? 'background' : 'color';
  requireContrast(at, colors.color, colors.background);
  const size = SVG_SCALE * (modules.length + 2 * QUIET_ZONE);
  return drawnSvg(modules, { size, margin: QUIET_ZONE, shape, ...colors }, title, logo);
}

/** Address of an SVG for `src`. */
export const svgUrl = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

/**
 * The SVG of a code as PNG; modules are whole pixels wide.
 *
 * @param logo data URL of its image, drawn by itself: Safari draws an SVG before the images inside it have loaded
 *   (niklasvh/html2canvas#1941)
 */
export async function qrPng(svg: string, modules: QrModules, logo: string | null): Promise<Blob> {
  const width = modules.length + 2 * QUIET_ZONE;
  const scale = Math.ceil(PNG_WIDTH / width);
  const canvas = document.createElement('canvas');
  canvas.width = width * scale;
  canvas.height = width * scale;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser draws no images');
  context.drawImage(await loaded(svgUrl(svg)), 0, 0, canvas.width, canvas.height);
  if (logo !== null) {
    const side = logoSide(modules) * scale;
    const at = (canvas.width - side) / 2;
    context.drawImage(await loaded(logo), at, at, side, side);
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('this browser writes no PNG'))));
  });
}

async function loaded(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}
