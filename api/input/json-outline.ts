import { AppError, badRequest } from '../../core/errors.ts';
import { MAX_DEPTH, TOO_DEEP } from '../../core/text/storable.ts';
import type { Slice } from '../../core/tier/time-slices.ts';

/** Byte range of a value in the text, without the comma behind it. */
export type ValueRange = { start: number; end: number; values: number };

/** The positions of the large parts of a JSON text. */
export type JsonOutline = {
  /** Number of values and names outside of the rows. It determines the cost of parsing, at any length. */
  values: number;
  /** The elements of the array under `field` of the outermost object; null: there is none. */
  rows: { start: number; end: number; elements: ValueRange[] } | null;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Maximum length of a field's name; a longer string is not one. */
const LONGEST_NAME = 100;

/** Bytes between two checks of the clock. */
const LOOK_EVERY = 32_768;

/**
 * Finds the elements of one array in a JSON text, and counts values, without parsing. It accepts invalid JSON: the
 * caller parses every part.
 *
 * @param field name of the array in the outermost object; null: only count
 * @param most maximum elements of the array; with more, the rest of the text is not read
 * @param mostValues outside of the rows
 * @throws {AppError} `payload_too_large` when there are more values, `bad_request` when the field is there twice or the
 *   text nests too deep
 */
export async function outlineOf(
  text: Buffer,
  { field, most, mostValues }: { field: string | null; most: number; mostValues: number },
  slice: Slice,
): Promise<JsonOutline> {
  const outline: JsonOutline = { values: 0, rows: null };
  let depth = 0;
  /** Whether the position is inside of the array of rows. */
  let inRows = false;
  let rowStart = 0;
  let rowValues = 0;
  /** The last string at depth 1: a name, when a colon follows. */
  let name: string | null = null;
  let isNamed = false;
  let looked = 0;

  function endRow(end: number, isLast: boolean): void {
    const elements = outline.rows?.elements;
    if (!elements) return;
    if (!isLast || elements.length > 0 || text.toString('latin1', rowStart, end).trim() !== '') {
      elements.push({ start: rowStart, end, values: rowValues });
    }
    rowStart = end + 1;
    rowValues = 0;
  }

  function count(): void {
    if (inRows) rowValues += 1;
    else if (++outline.values > mostValues) {
      throw new AppError('payload_too_large', `the body must have at most ${mostValues} values`);
    }
  }

  /** Position of the current string's opening quote; -1: outside of strings. */
  let opened = -1;
  for (let at = 0; at < text.length; at++) {
    if (at - looked > LOOK_EVERY) {
      looked = at;
      await slice();
    }
    if (opened >= 0) {
      at = text.indexOf(QUOTE, at);
      if (at === -1) break;
      if (isEscaped(text, at, opened)) continue;
      if (depth === 1 && field !== null) {
        name = at - opened > LONGEST_NAME ? null : text.toString('latin1', opened + 1, at);
      }
      opened = -1;
      continue;
    }
    const byte = text[at];
    if (byte === QUOTE) {
      opened = at;
    } else if (byte === COLON) {
      if (depth === 1) isNamed = field !== null && name === field;
      count();
    } else if (byte === COMMA) {
      if (depth === 1) isNamed = false;
      if (inRows && depth === 2) {
        endRow(at, false);
        if ((outline.rows?.elements.length ?? 0) > most) return outline;
      } else count();
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (depth === 1 && isNamed && byte === OPEN_LIST) {
        if (outline.rows) throw new AppError('bad_request', `the body must not repeat \`${field}\``);
        inRows = true;
        outline.rows = { start: at, end: text.length, elements: [] };
        rowStart = at + 1;
      } else count();
      depth += 1;
      if (!inRows && depth > MAX_DEPTH) throw badRequest('body', TOO_DEEP);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1;
      if (inRows && depth === 1) {
        endRow(at, true);
        inRows = false;
        isNamed = false;
        if (outline.rows) outline.rows.end = at + 1;
      }
    }
  }
  return outline;
}

/** Whether an odd number of backslashes precedes a quote of the string that begins at `opened`. */
function isEscaped(text: Buffer, quote: number, opened: number): boolean {
  let first = quote;
  while (first - 1 > opened && text[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
