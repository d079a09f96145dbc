import { isWebUrl } from '../links/web-urls.ts';
import { type Color, cssOf, isGroundFor, over, parseColor, readableOn } from './colors.ts';
import { gradientNamed } from './gradients.ts';
import { DEFAULT_THEME, IMAGE_URL_LIMIT, type Theme } from './theme.ts';

/** The resolved colors of a theme: each background, and each text readable on it. */
export type Palette = {
  canvas: { color: string; image: string | null };
  /** CSS of the card, null without one. */
  card: { color: string; blurred: boolean } | null;
  text: string;
  button: { color: string; text: string; border: string; shadow: string };
  frame: string;
};

const WHITE: Color = { r: 255, g: 255, b: 255, a: 1 };
const BLACK: Color = { r: 0, g: 0, b: 0, a: 1 };
/** Opacity of the veil that keeps text readable over any photo. */
const SCRIM = 0.66;
const GLASS = 0.78;
const SOFT = 0.16;

/** Resolves a theme's colors. A text color that would not be readable becomes near-black or white. */
export function paletteOf(theme: Theme): Palette {
  const wanted = colorOf(theme.textColor, DEFAULT_THEME.textColor);
  const { grounds: canvasGrounds, ...canvas } = canvasOf(theme, wanted);
  const card = cardOf(theme, canvasGrounds);
  const grounds = card ? canvasGrounds.map((ground) => over(card, ground)) : canvasGrounds;
  const [frame = WHITE] = canvasGrounds;
  const shadow = cssOf(colorOf(theme.buttonShadowColor, DEFAULT_THEME.buttonShadowColor));
  const { border, ...button } = buttonOf(theme, grounds);
  return {
    canvas,
    card: card && { color: cssOf(card), blurred: theme.cardMode === 'glass' },
    text: cssOf(readableOn(grounds, wanted)),
    // Without a border, a hard shadow would show only two sides of a button that is colored like its background.
    button: {
      ...button,
      shadow,
      border: border ?? (theme.buttonShadow === 'hard' ? shadow : 'transparent'),
    },
    frame: cssOf(frame),
  };
}

function canvasOf(theme: Theme, text: Color): Palette['canvas'] & { grounds: Color[] } {
  const { canvasMode, canvasValue } = theme;
  const gradient = canvasMode === 'gradient' ? gradientNamed(canvasValue) : null;
  if (gradient) {
    const image = `linear-gradient(${gradient.angle}deg,${gradient.stops.join(',')})`;
    const grounds = gradient.stops.map((stop) => colorOf(stop, stop));
    return { color: gradient.stops[0] ?? '', image, grounds };
  }
  if (canvasMode === 'image' && isWebUrl(canvasValue, IMAGE_URL_LIMIT)) {
    // A dark veil under light text, a light one under dark text, so that any photo can lie beneath.
    const veil = { ...(isLight(text) ? BLACK : WHITE), a: theme.cardMode === 'none' ? SCRIM : 0 };
    const image = `linear-gradient(${cssOf(veil)},${cssOf(veil)}),url("${cssUrl(canvasValue)}")`;
    return { color: cssOf(over(veil, WHITE)), image, grounds: [over(veil, WHITE), over(veil, BLACK)] };
  }
  const color = over(colorOf(canvasMode === 'color' ? canvasValue : '', DEFAULT_THEME.canvasValue), WHITE);
  return { color: cssOf(color), image: null, grounds: [color] };
}

function cardOf({ cardMode, cardBg }: Theme, canvas: Color[]): Color | null {
  if (cardMode === 'none') return null;
  const color = colorOf(cardBg, DEFAULT_THEME.cardBg);
  return asGround(cardMode === 'glass' ? { ...color, a: color.a * GLASS } : color, canvas);
}

function asGround(color: Color, grounds: Color[]): Color {
  return isGroundFor(grounds.map((ground) => over(color, ground))) ? color : { ...color, a: 1 };
}

function buttonOf(
  theme: Theme,
  grounds: Color[],
): Omit<Palette['button'], 'shadow' | 'border'> & { border: string | null } {
  const chosen = colorOf(theme.buttonColor, DEFAULT_THEME.buttonColor);
  if (theme.buttonStyle === 'fill') {
    const color = asGround(chosen, grounds);
    const text = colorOf(theme.buttonTextColor, DEFAULT_THEME.buttonTextColor);
    const filled = grounds.map((ground) => over(color, ground));
    return { color: cssOf(color), text: cssOf(readableOn(filled, text)), border: null };
  }
  if (theme.buttonStyle === 'outline') {
    const text = cssOf(readableOn(grounds, chosen));
    return { color: 'transparent', text, border: text };
  }
  const soft = asGround({ ...chosen, a: chosen.a * SOFT }, grounds);
  const text = readableOn(
    grounds.map((ground) => over(soft, ground)),
    chosen,
  );
  return { color: cssOf(soft), text: cssOf(text), border: null };
}

function colorOf(text: string, otherwise: string): Color {
  return parseColor(text) ?? parseColor(otherwise) ?? WHITE;
}

function isLight({ r, g, b }: Color): boolean {
  return r * 0.299 + g * 0.587 + b * 0.114 > 127;
}

function cssUrl(url: string): string {
  return new URL(url).href.replaceAll(/["'\\<>()\s]/g, (character) => encodeURIComponent(character));
}
