// Browsers run this file too.

/**
 * Source of a character class: characters that show nothing by themselves. White space, control and format characters,
 * marks without a letter, characters that Unicode calls ignorable, and two symbols that are drawn blank: the empty
 * Braille pattern and the null note head. For expressions with the flag `u`.
 */
export const INVISIBLE = '\\p{Cc}\\p{Cf}\\p{Z}\\p{M}\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}';

const VISIBLE = new RegExp(`[^${INVISIBLE}]`, 'u');

/** Returns whether a person sees anything of a text. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
