import { readColor, requireContrast } from '../../../../core/qr/colors.ts';
import {
  type Frame,
  frameDrawing,
  type QrFrame,
  USUAL_FRAME_TEXT,
  type Words,
} from '../../../../core/qr/frames.ts';
import {
  LOGO_LEVELS,
  logoSide,
  type QrModules,
  type QrShape,
  QUIET_ZONE,
} from '../../../../core/qr/layout.ts';
import { qrSvg as drawnSvg } from '../../../../core/qr/svg.ts';
import { hexOf } from '../../parts/css-colors.ts';

/** How a person wants a code. */
export type QrStyle = {
  /** CSS colors. */
  color: string;
  background: string;
  /** Of the modules. */
  shape: QrShape;
  frame: QrFrame;
  frame_text: string;
  /** `none`, `workspace`, or the data URL of the link's own. */
  logo: string;
};

/** What scanners could not read, or what can't be drawn. */
export type WrongStyle = { field: 'color' | 'background' | 'frame_text'; message: string };

export const PLAIN_STYLE: QrStyle = {
  color: '#000000',
  background: '#ffffff',
  shape: 'square',
  frame: 'none',
  frame_text: USUAL_FRAME_TEXT,
  logo: 'none',
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

/** The frame of a style with the outlines of its text; null: none. */
export function frameOf({ frame }: QrStyle, words: Words | null): Frame | null {
  return frame === 'none' || words === null ? null : { kind: frame, words };
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
  { color, background, shape }: QrStyle = PLAIN_STYLE,
  logo: string | null = null,
  frame: Frame | null = null,
): string {
  const colors = {
    color: readColor('color', hexOf(color)),
    background: readColor('background', hexOf(background)),
  };
  const at = color === PLAIN_STYLE.color ? 'background' : 'color';
  requireContrast(at, colors.color, colors.background);
  const size = SVG_SCALE * placesOf(modules, frame).width;
  return drawnSvg(modules, { size, margin: QUIET_ZONE, shape, frame, ...colors }, title, logo);
}

/** Address of an SVG for `src`. */
export const svgUrl = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

/** Where a code is in its image, in modules. */
export function placesOf(modules: QrModules, frame: Frame | null) {
  const side = modules.length + 2 * QUIET_ZONE;
  return frame ? frameDrawing(frame, side) : { width: side, height: side, x: 0, y: 0 };
}

/**
 * The SVG of a code as PNG; modules are whole pixels wide.
 *
 * @param logo data URL of its image, drawn by itself: Safari draws an SVG before the images inside it have loaded
 *   (niklasvh/html2canvas#1941)
 */
export async function qrPng(
  svg: string,
  modules: QrModules,
  logo: string | null,
  frame: Frame | null,
): Promise<Blob> {
  const place = placesOf(modules, frame);
  const scale = Math.ceil(PNG_WIDTH / place.width);
  const canvas = document.createElement('canvas');
  canvas.width = place.width * scale;
  canvas.height = place.height * scale;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser draws no images');
  context.drawImage(await loaded(svgUrl(svg)), 0, 0, canvas.width, canvas.height);
  if (logo !== null) {
    const side = logoSide(modules);
    const inset = QUIET_ZONE + (modules.length - side) / 2;
    const [x, y] = [place.x + inset, place.y + inset].map((at) => at * scale) as [number, number];
    context.drawImage(await loaded(logo), x, y, side * scale, side * scale);
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
