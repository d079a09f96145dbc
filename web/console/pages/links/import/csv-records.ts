import { isQuoting } from '../../../../../core/link-imports/delimited.ts';

/** A record of a CSV text: an unparsed row. */
export type CsvRecord = {
  text: string;
  /** Offset of the next record. */
  end: number;
  /** Its first line, from 1. */
  line: number;
  /** Its number of lines; more than one if a quoted value has newlines. */
  lines: number;
};

/**
 * Splits a CSV text into records. Quotes follow the rules of the parser of values: one at the start of a value opens
 * it, two in a row inside are one, and anywhere else a quote is an ordinary character. Values between tabs or bars are
 * never quoted.
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
    } else if (character === '"' && atValueStart && isQuoting(delimiter)) {
      quoted = true;
    }
    atValueStart = character === delimiter && !quoted;
  }
  if (start < text.length) yield { text: text.slice(start), end: text.length, line, lines };
}
