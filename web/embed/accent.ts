/**
 * Colors that follow from one accent color, readable on the page's surfaces. Contrast is that of WCAG 2.2
 * (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio). Pure.
 */
import type { Theme } from './settings.ts';

type Rgb = readonly [number, number, number];

/** Minimum contrast of text (WCAG 1.4.3 AA). */
const READABLE = 4.5;
/** Slightly above it, because channels are rounded to whole numbers. */
const AIMED = 4.6;

const WHITE = '#ffffff';
const BLACK = '#000000';

/** The darkest and lightest surface below accent text, per theme. Must equal `styles/colors.css`. */
const SURFACES: Record<Theme, readonly [string, string]> = {
  light: ['#ffffff', '#f1f3f7'],
  dark: ['#0f1218', '#232936'],
};

export type AccentColors = {
  /** The accent itself: fills of buttons. */
  fill: string;
  /** Text on `fill`. */
  onFill: string;
  /** Text, lines and focus rings: the accent, mixed with black or white until it is readable. */
  text: string;
};

/** @param accent `#rrggbb` */
export function accentColors(accent: string, theme: Theme): AccentColors {
  const white = contrast(accent, WHITE);
  return {
    fill: accent,
    // The better of white and black always has a contrast of at least 4.58.
    onFill: white >= READABLE ? WHITE : BLACK,
    text: readableOn(SURFACES[theme], accent, theme === 'light' ? '#000000' : '#ffffff'),
  };
}

/** Contrast of two colors, 1 to 21. */
export function contrast(first: string, second: string): number {
  const [lighter, darker] = [luminance(rgbOf(first)), luminance(rgbOf(second))].sort((a, b) => b - a);
  return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05);
}

function readableOn(surfaces: readonly string[], color: string, end: string): string {
  for (let share = 0; share < 1; share += 0.04) {
    const mixed = mix(color, end, share);
    if (surfaces.every((surface) => contrast(mixed, surface) >= AIMED)) return mixed;
  }
  return end;
}

function mix(from: string, to: string, share: number): string {
  const [first, second] = [rgbOf(from), rgbOf(to)];
  const channel = (index: 0 | 1 | 2) =>
    Math.round(first[index] + (second[index] - first[index]) * share)
      .toString(16)
      .padStart(2, '0');
  return `#${channel(0)}${channel(1)}${channel(2)}`;
}

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function luminance(rgb: Rgb): number {
  const linear = (channel: number) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}
