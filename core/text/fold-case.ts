// Browsers run this file too.
const NOT_ASCII = /[^\0-\x7f]/;

/** Cherokee folds to capitals: it had no small letters before Unicode 8. */
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;

/**
 * Returns a text in the form in which texts that differ in case alone are equal, by Unicode's full case folding:
 * `Straße` as `strasse`, `ς` as `σ`. `caseFoldUTF8` of ClickHouse returns the same; a test compares all code points.
 */
export function foldCase(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) folded += foldCharacter(character);
  return folded;
}

/**
 * Ranges of code points with all characters whose folding differs from their lower case. A test checks every code
 * point.
 */
const RANGES = [
  [0xb5, 0x587],
  [0x13a0, 0x13fd],
  [0x1c80, 0x1ffc],
  [0xab70, 0xabbf],
  [0xfb00, 0xfb17],
] as const;

type Unlike = { lower: string; folded: string };
let unlike: readonly Unlike[] | undefined;

function unlikeLowerCase(): readonly Unlike[] {
  unlike ??= RANGES.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, nth) => String.fromCodePoint(first + nth))
      .map((one) => ({ lower: one.toLowerCase(), folded: foldCase(one) }))
      .filter(({ lower, folded }) => lower !== folded),
  );
  return unlike;
}

/**
 * Returns the characters for which lower case is not enough to find these parts, such as `ß` and `ſ` for the part
 * `sale`, and none for `red`. A text without them has a part when its lower case does. Otherwise its case must be
 * folded, which is much more expensive in ClickHouse.
 *
 * @param parts folded
 */
export function charactersThatFoldInto(parts: readonly string[]): string[] {
  const found = unlikeLowerCase().filter(({ folded }) => parts.some((part) => overlaps(part, folded)));
  return [...new Set(found.map(({ lower }) => lower))];
}

/** Returns whether a text could cover a piece of a part: inside of it, or across one of its ends. */
function overlaps(part: string, text: string): boolean {
  for (let from = 1 - text.length; from < part.length; from++) {
    const begin = Math.max(from, 0);
    const end = Math.min(from + text.length, part.length);
    if (part.slice(begin, end) === text.slice(begin - from, end - from)) return true;
  }
  return false;
}

/** Folds one character alone, because `toLowerCase` of a whole text writes a final sigma. */
function foldCharacter(character: string): string {
  if (character === 'ı') return character;
  if (CHEROKEE.test(character)) return character.toUpperCase();
  return character.toLowerCase().toUpperCase().toLowerCase();
}
