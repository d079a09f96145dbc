import { NAMED_COLORS } from './named-colors.ts';

/** Red, green, blue from 0 to 255 and alpha from 0 to 1. */
export type Color = { r: number; g: number; b: number; a: number };

const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)`;
const FUNCTION = new RegExp(
  String.raw`^(rgb|hsl)a?\(\s*(${NUMBER})(%|deg|)\s*[\s,]\s*(${NUMBER})(%?)\s*[\s,]\s*(${NUMBER})(%?)\s*(?:[,/]\s*(${NUMBER})(%?)\s*)?\)$`,
);
const HEX = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/;
const LONGEST = 64;

/**
 * Parses a CSS color: `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`, `rgb()`, `rgba()`, `hsl()`, `hsla()` or a name. A
 * parsed color can't end a CSS declaration.
 *
 * @returns null when it is none of these
 */
export function parseColor(text: string): Color | null {
  if (text.length > LONGEST) return null;
  const value = text.trim().toLowerCase();
  if (value === 'transparent') return { r: 0, g: 0, b: 0, a: 0 };
  const hex = HEX.test(value) ? value : NAMED_COLORS.get(value);
  if (hex !== undefined) return fromHex(hex.slice(1));
  const match = FUNCTION.exec(value);
  return match && fromFunction(match);
}

function fromHex(digits: string): Color {
  const long = digits.length > 4 ? digits : [...digits].map((digit) => digit + digit).join('');
  const part = (at: number) => Number.parseInt(long.slice(at, at + 2), 16);
  return { r: part(0), g: part(2), b: part(4), a: long.length === 8 ? part(6) / 255 : 1 };
}

function fromFunction(match: RegExpExecArray): Color | null {
  const [, name, first = '', firstUnit, second = '', secondUnit, third = '', thirdUnit, alpha, alphaUnit] =
    match;
  const a = alpha === undefined ? 1 : clamp(Number(alpha) / (alphaUnit === '%' ? 100 : 1), 1);
  if (name === 'rgb') {
    if (firstUnit === 'deg' || firstUnit !== secondUnit || secondUnit !== thirdUnit) return null;
    const whole = firstUnit === '%' ? 100 : 255;
    const [r, g, b] = [first, second, third].map((part) => clamp((Number(part) * 255) / whole, 255));
    return { r: r ?? 0, g: g ?? 0, b: b ?? 0, a };
  }
  if (firstUnit === '%' || secondUnit !== '%' || thirdUnit !== '%') return null;
  return { ...fromHsl(Number(first), clamp(Number(second) / 100, 1), clamp(Number(third) / 100, 1)), a };
}

/** Converts HSL to RGB (CSS Color 4, section 7.1). */
function fromHsl(hue: number, saturation: number, lightness: number): Omit<Color, 'a'> {
  const part = (n: number) => {
    const k = (((n + hue / 30) % 12) + 12) % 12;
    const chroma = saturation * Math.min(lightness, 1 - lightness);
    return 255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return { r: part(0), g: part(8), b: part(4) };
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}

/** Returns a color laid over an opaque background. */
export function over(color: Color, ground: Color): Color {
  const mix = (top: number, below: number) => top * color.a + below * (1 - color.a);
  return { r: mix(color.r, ground.r), g: mix(color.g, ground.g), b: mix(color.b, ground.b), a: 1 };
}

/** Returns a color as CSS. */
export function cssOf({ r, g, b, a }: Color): string {
  const [red, green, blue] = [r, g, b].map(Math.round);
  return a === 1 ? `rgb(${red} ${green} ${blue})` : `rgb(${red} ${green} ${blue} / ${Number(a.toFixed(3))})`;
}

/** Returns the relative luminance from 0 (black) to 1 (white), as WCAG 2 defines it. */
export function luminance({ r, g, b }: Color): number {
  const linear = (part: number) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** The contrast that WCAG 2 requires of text, and a little more because browsers round. */
export const READABLE = 4.55;

const INK: Color = { r: 17, g: 17, b: 17, a: 1 };
const BLACK: Color = { r: 0, g: 0, b: 0, a: 1 };
const WHITE: Color = { r: 255, g: 255, b: 255, a: 1 };

/** Returns the least contrast of a text with its possible backgrounds, from 1 to 21. */
export function contrast(text: Color, grounds: readonly Color[]): number {
  return Math.min(
    ...grounds.map((ground) => {
      const [lighter = 0, darker = 0] = [luminance(over(text, ground)), luminance(ground)].sort(
        (a, b) => b - a,
      );
      return (lighter + 0.05) / (darker + 0.05);
    }),
  );
}

/**
 * Returns the color itself if it is readable on all these opaque backgrounds, else near-black, white or, on middle
 * grays, black. When backgrounds are both dark and light, no color is readable; {@link contrast} shows it.
 */
export function readableOn(grounds: readonly Color[], wanted: Color): Color {
  if (contrast(wanted, grounds) >= READABLE) return wanted;
  const better = contrast(INK, grounds) >= contrast(WHITE, grounds) ? INK : WHITE;
  return contrast(better, grounds) >= READABLE ? better : BLACK;
}

/** Returns whether some text is readable on all these opaque backgrounds. */
export function isGroundFor(grounds: readonly Color[]): boolean {
  return contrast(BLACK, grounds) >= READABLE || contrast(WHITE, grounds) >= READABLE;
}
