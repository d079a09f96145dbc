/** The CSS color notations that the API accepts. */
const SPELLINGS = /^(#[\da-f]{3,8}|(rgb|hsl)a?\([^()]*\)|[a-z]+)$/i;
/** CSS keywords that are valid colors but not colors of their own. */
const NO_COLORS = /^(inherit|initial|unset|revert|currentcolor)$/i;

/** Whether a theme accepts the color: hex, `rgb()`, `hsl()` or a name. */
export function isColor(text: string): boolean {
  const value = text.trim();
  return SPELLINGS.test(value) && !NO_COLORS.test(value) && CSS.supports('color', value);
}

/** A color for the browser's picker: opaque, in hex. */
export function hexOf(text: string): string {
  const context = document.createElement('canvas').getContext('2d');
  if (!context || !isColor(text)) return '#000000';
  context.fillStyle = text;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
