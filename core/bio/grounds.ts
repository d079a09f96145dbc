import { isWebUrl } from '../links/web-urls.ts';
import { type Colour, cssOf, isGroundFor, over, parseColour, readableOn } from './colours.ts';
import { gradientNamed } from './gradients.ts';
import { DEFAULT_THEME, IMAGE_URL_LIMIT, type Theme } from './theme.ts';

/** A theme's colours worked out: what is drawn behind and on what, and each text readable on its ground. */
export type Palette = {
  /** CSS of the canvas: a colour, and an image or gradient over it, if there is one. */
  canvas: { colour: string; image: string | null };
  /** CSS of the card, null without one. */
  card: { colour: string; blurred: boolean } | null;
  text: string;
  button: { colour: string; text: string; border: string; shadow: string };
  /** For the browser's own frame: opaque. */
  frame: string;
};

const WHITE: Colour = { r: 255, g: 255, b: 255, a: 1 };
const BLACK: Colour = { r: 0, g: 0, b: 0, a: 1 };
/** How much of a photo is covered, so that text on it can be read whatever it shows. */
const SCRIM = 0.66;
/** How much of the canvas a glass card covers. */
const GLASS = 0.78;
/** How much of a soft button is its colour. */
const SOFT = 0.16;

/** Works out a theme's colours. A text colour that could not be read where it stands becomes near-black or white. */
export function paletteOf(theme: Theme): Palette {
  const wanted = colourOf(theme.textColor, DEFAULT_THEME.textColor);
  const { grounds: canvasGrounds, ...canvas } = canvasOf(theme, wanted);
  const card = cardOf(theme, canvasGrounds);
  const grounds = card ? canvasGrounds.map((ground) => over(card, ground)) : canvasGrounds;
  const [frame = WHITE] = canvasGrounds;
  const shadow = cssOf(colourOf(theme.buttonShadowColor, DEFAULT_THEME.buttonShadowColor));
  const { border, ...button } = buttonOf(theme, grounds);
  return {
    canvas,
    card: card && { colour: cssOf(card), blurred: theme.cardMode === 'glass' },
    text: cssOf(readableOn(grounds, wanted)),
    // A hard shadow without an edge of its colour would leave a button like its ground with two sides only.
    button: {
      ...button,
      shadow,
      border: border ?? (theme.buttonShadow === 'hard' ? shadow : 'transparent'),
    },
    frame: cssOf(frame),
  };
}

function canvasOf(theme: Theme, text: Colour): Palette['canvas'] & { grounds: Colour[] } {
  const { canvasMode, canvasValue } = theme;
  const gradient = canvasMode === 'gradient' ? gradientNamed(canvasValue) : null;
  if (gradient) {
    const image = `linear-gradient(${gradient.angle}deg,${gradient.stops.join(',')})`;
    const grounds = gradient.stops.map((stop) => colourOf(stop, stop));
    return { colour: gradient.stops[0] ?? '', image, grounds };
  }
  if (canvasMode === 'image' && isWebUrl(canvasValue, IMAGE_URL_LIMIT)) {
    // A dark veil under light text, a light one under dark text: over a photo of any colour.
    const veil = { ...(isLight(text) ? BLACK : WHITE), a: theme.cardMode === 'none' ? SCRIM : 0 };
    const image = `linear-gradient(${cssOf(veil)},${cssOf(veil)}),url("${cssUrl(canvasValue)}")`;
    return { colour: cssOf(over(veil, WHITE)), image, grounds: [over(veil, WHITE), over(veil, BLACK)] };
  }
  const colour = over(colourOf(canvasMode === 'color' ? canvasValue : '', DEFAULT_THEME.canvasValue), WHITE);
  return { colour: cssOf(colour), image: null, grounds: [colour] };
}

function cardOf({ cardMode, cardBg }: Theme, canvas: Colour[]): Colour | null {
  if (cardMode === 'none') return null;
  const colour = colourOf(cardBg, DEFAULT_THEME.cardBg);
  return asGround(cardMode === 'glass' ? { ...colour, a: colour.a * GLASS } : colour, canvas);
}

/** Something drawn under text: opaque where no text could be read on what shines through. */
function asGround(colour: Colour, grounds: Colour[]): Colour {
  return isGroundFor(grounds.map((ground) => over(colour, ground))) ? colour : { ...colour, a: 1 };
}

function buttonOf(
  theme: Theme,
  grounds: Colour[],
): Omit<Palette['button'], 'shadow' | 'border'> & { border: string | null } {
  const chosen = colourOf(theme.buttonColor, DEFAULT_THEME.buttonColor);
  if (theme.buttonStyle === 'fill') {
    const colour = asGround(chosen, grounds);
    const text = colourOf(theme.buttonTextColor, DEFAULT_THEME.buttonTextColor);
    const filled = grounds.map((ground) => over(colour, ground));
    return { colour: cssOf(colour), text: cssOf(readableOn(filled, text)), border: null };
  }
  if (theme.buttonStyle === 'outline') {
    const text = cssOf(readableOn(grounds, chosen));
    return { colour: 'transparent', text, border: text };
  }
  const soft = asGround({ ...chosen, a: chosen.a * SOFT }, grounds);
  const text = readableOn(
    grounds.map((ground) => over(soft, ground)),
    chosen,
  );
  return { colour: cssOf(soft), text: cssOf(text), border: null };
}

function colourOf(text: string, otherwise: string): Colour {
  return parseColour(text) ?? parseColour(otherwise) ?? WHITE;
}

function isLight({ r, g, b }: Colour): boolean {
  return r * 0.299 + g * 0.587 + b * 0.114 > 127;
}

/** A URL inside `url("…")` of a style sheet inside HTML. */
function cssUrl(url: string): string {
  return new URL(url).href.replaceAll(/["'\\<>()\s]/g, (character) => encodeURIComponent(character));
}
