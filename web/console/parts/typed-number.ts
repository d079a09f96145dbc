/** A comma is refused: `1,250` is 1250 in some locales and 1.25 in others. */
const DECIMAL = /^-?(\d+\.?\d*|\.\d+)$/;

/** The decimal number in a field's text. Other text as it is, so that the API names the field. */
export const typedNumber = (text: string): number | string =>
  DECIMAL.test(text.trim()) ? Number(text) : text;
