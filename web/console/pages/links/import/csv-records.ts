/** One record of a CSV text: a row with its values still together. */
export type CsvRecord = {
  text: string;
  /** Where the next record begins. */
  end: number;
  /** Line of the text on which it begins, from 1. */
  line: number;
  /** Lines that it goes over: more than one where a quoted value holds newlines. */
  lines: number;
};

/**
 * The records of a CSV text. Only where they end is judged here: a quote opens a value at its beginning, two in a row
 * inside are one, and elsewhere a quote is a character like any other, as the reader of the values takes it.
 *
 * @param delimiter one character
 */
export function* csvRecords(text: string, delimiter: string): Generator<CsvRecord> {
  let start = 0;
  let line = 1;
  let lines = 1;
  let quoted = false;
  let atValueStart = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    const isNewline = character === '\n' || character === '\r';
    const end = isNewline && character === '\r' && text[at + 1] === '\n' ? at + 2 : at + 1;
    if (quoted) {
      if (character === '"') {
        if (text[at + 1] === '"') at += 1;
        else quoted = false;
      } else if (isNewline) {
        lines += 1;
        at = end - 1;
      }
    } else if (isNewline) {
      yield { text: text.slice(start, at), end, line, lines };
      at = end - 1;
      start = end;
      line += lines;
      lines = 1;
      atValueStart = true;
      continue;
    } else if (character === '"' && atValueStart) {
      quoted = true;
    }
    atValueStart = character === delimiter && !quoted;
  }
  if (start < text.length) yield { text: text.slice(start), end: text.length, line, lines };
}
