// Browsers run this file too.
import { badRequest } from '../errors.ts';

/** Red, green and blue, 0 to 255. */
export type Color = readonly [number, number, number];

const HEX = /^#?([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})([0-9A-Fa-f]{2})$/;

/** Least contrast of a code with its background, as WCAG 2.2 defines it (1 to 21). Scanners tell dark by luminance. */
export const LEAST_CONTRAST = 3;

/**
 * Reads a color of six hexadecimal digits.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export function readColor(field: string, text: string): Color {
  const [, red, green, blue] = HEX.exec(text) ?? [];
  if (red === undefined || green === undefined || blue === undefined) {
    throw badRequest(field, 'must be six hexadecimal digits, such as 1a2b3c');
  }
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

/**
 * Requires that scanners can read a code of these colors.
 *
 * @param field named in the error: the field that was sent
 * @throws {AppError} `bad_request` that names the field
 */
export function requireContrast(field: string, color: Color, background: Color): void {
  const [dark, light] = [luminance(color), luminance(background)];
  if (dark >= light) throw badRequest(field, 'must make a code that is darker than its background');
  const contrast = (light + 0.05) / (dark + 0.05);
  if (contrast >= LEAST_CONTRAST) return;
  const found = Math.floor(contrast * 100) / 100;
  throw badRequest(
    field,
    `must differ more: the contrast is ${found}, and scanners need at least ${LEAST_CONTRAST}`,
  );
}

/** Returns a color for CSS and SVG. */
export function cssColor(color: Color): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

/** Relative luminance (WCAG 2.2). */
function luminance(color: Color): number {
  const [red, green, blue] = color.map(linear);
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
}

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
