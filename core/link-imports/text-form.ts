// Browsers run this file too.
/** Encoding of a file. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** The form of a text: JSON, or CSV whose columns are named on the line `firstLine` (from 1). */
export type TextForm = { kind: 'json' } | { kind: 'csv'; delimiter: string; firstLine: number };

const DELIMITERS = [',', ';', '\t', '|'];

/** Returns the encoding by the byte order mark; UTF-8 without one. */
export function encodingOf(head: Uint8Array): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

/**
 * Returns JSON by the first character, or CSV with its delimiter, by the first line or by Excel's line `sep=;`.
 *
 * @param head the beginning of the text, with a whole line at least
 */
export function formOf(head: string): TextForm {
  if (/^\s*[[{]/.test(head)) return { kind: 'json' };
  const declared = /^sep=(.)\r?\n/i.exec(head)?.[1];
  return { kind: 'csv', delimiter: declared ?? delimiterOf(head), firstLine: declared ? 2 : 1 };
}

/** Returns the most frequent delimiter outside quotes in the first line; a comma where there is one column. */
function delimiterOf(text: string): string {
  const counts = new Map(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text) {
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n' || character === '\r') break;
    else if (counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const [most = ','] = [...counts].toSorted(([, a], [, b]) => b - a).map(([delimiter]) => delimiter);
  return most;
}
