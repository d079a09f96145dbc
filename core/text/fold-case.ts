// Browsers run this file too.
const NOT_ASCII = /[^\0-\x7f]/;

/** Cherokee folds to capitals: it had no small letters before Unicode 8. */
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;

/**
 * Returns a text in the form in which texts that differ in case alone are equal, by Unicode's full case folding: `Straße`
 * as `strasse`, `ς` as `σ`. `caseFoldUTF8` of ClickHouse returns the same; a test compares all code points.
 */
export function foldCase(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += foldCharacter(character);
  return folded;
}

/** One at a time: `toLowerCase` of a whole text makes a final sigma of its own. */
function foldCharacter(character: string): string {
  if (character === 'ı') return character;
  if (CHEROKEE.test(character)) return character.toUpperCase();
  return character.toLowerCase().toUpperCase().toLowerCase();
}
