/** Letters that are not a base letter with a mark. */
const LETTERS: Readonly<Record<string, string>> = { ł: 'l', ø: 'o', ı: 'i', ß: 'ss', đ: 'd', æ: 'ae' };

/** Returns a name for comparison: its letters and digits, without case, accents, blanks, and punctuation. */
export function plainText(name: string): string {
  const plain = /^[\x20-\x7e]*$/.test(name)
    ? name
    : name.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC');
  return plain
    .toLowerCase()
    .replaceAll(/[łøıßđæ]/g, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}
