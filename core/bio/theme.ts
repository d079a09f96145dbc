import { isWebUrl } from '../links/web-urls.ts';
import { parseColor } from './colors.ts';
import { gradientNamed } from './gradients.ts';
import { pictureAt } from './pictures.ts';

export const CANVAS_MODES = ['color', 'gradient', 'image'] as const;
export const CARD_MODES = ['none', 'solid', 'glass'] as const;
export const BUTTON_STYLES = ['fill', 'outline', 'soft'] as const;
export const BUTTON_RADII = ['none', 'sm', 'md', 'lg', 'full'] as const;
export const BUTTON_SHADOWS = ['none', 'soft', 'hard'] as const;
export const FONTS = [
  'system',
  'serif',
  'mono',
  'rounded',
  'humanist',
  'geometric',
  'slab',
  'condensed',
] as const;

/** The look of a bio page. Every key has a value: a missing or invalid one is the default. */
export type Theme = {
  canvasMode: (typeof CANVAS_MODES)[number];
  /** A color, the name of a gradient or the URL of an image. */
  canvasValue: string;
  cardMode: (typeof CARD_MODES)[number];
  cardBg: string;
  textColor: string;
  buttonStyle: (typeof BUTTON_STYLES)[number];
  buttonColor: string;
  buttonTextColor: string;
  buttonRadius: (typeof BUTTON_RADII)[number];
  buttonShadow: (typeof BUTTON_SHADOWS)[number];
  buttonShadowColor: string;
  font: (typeof FONTS)[number];
  footerImage: string | null;
};

export const DEFAULT_THEME: Theme = {
  canvasMode: 'color',
  canvasValue: '#ffffff',
  cardMode: 'none',
  cardBg: '#ffffff',
  textColor: '#111111',
  buttonStyle: 'fill',
  buttonColor: '#111111',
  buttonTextColor: '#ffffff',
  buttonRadius: 'md',
  buttonShadow: 'none',
  buttonShadowColor: '#000000',
  font: 'system',
  footerImage: null,
};

type Allows = (value: unknown) => boolean;

const oneOf =
  (values: readonly string[]): Allows =>
  (value) =>
    typeof value === 'string' && values.includes(value);
const isColor: Allows = (value) => typeof value === 'string' && parseColor(value) !== null;
const isImage: Allows = (value) =>
  typeof value === 'string' && (isWebUrl(value, IMAGE_URL_LIMIT) || pictureAt(value) !== null);

/** Longest URL of an image on a bio page, in characters. */
export const IMAGE_URL_LIMIT = 1_024;

const ALLOWED: Record<keyof Theme, Allows> = {
  canvasMode: oneOf(CANVAS_MODES),
  canvasValue: (value) =>
    isColor(value) || isImage(value) || (typeof value === 'string' && gradientNamed(value) !== null),
  cardMode: oneOf(CARD_MODES),
  cardBg: isColor,
  textColor: isColor,
  buttonStyle: oneOf(BUTTON_STYLES),
  buttonColor: isColor,
  buttonTextColor: isColor,
  buttonRadius: oneOf(BUTTON_RADII),
  buttonShadow: oneOf(BUTTON_SHADOWS),
  buttonShadowColor: isColor,
  font: oneOf(FONTS),
  footerImage: (value) => value === null || isImage(value),
};

/** Merges the keys of a request into a theme. An invalid value becomes the default; unknown keys are ignored. */
export function mergeTheme(current: Theme, sent: Record<string, unknown>): Theme {
  const keys = Object.keys(ALLOWED) as (keyof Theme)[];
  const set = keys
    .filter((key) => Object.hasOwn(sent, key))
    .map((key) => [key, ALLOWED[key](sent[key]) ? sent[key] : DEFAULT_THEME[key]] as const);
  return { ...DEFAULT_THEME, ...current, ...Object.fromEntries(set) };
}
