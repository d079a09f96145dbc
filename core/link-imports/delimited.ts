// Browsers run this file too.
/** A row of a delimited text, or what is wrong with it. `line`: where it begins, from 1. */
export type Delimited = { line: number; values: string[] } | { line: number; problem: string };

/** A row with more characters is treated as a quote that is never closed. */
const ROW_LIMIT = 1_048_576;

const UNCLOSED = `a quote is not closed, or the row has more than ${ROW_LIMIT} characters`;
const STRAY = 'has a quote inside a value: quote the whole value, and write each of its quotes twice';

/**
 * Returns whether values may be quoted. `mysql --batch` separates by tabs and `sqlite3` by bars; both quote nothing, so
 * a value that begins with a quote is nothing special.
 */
export function isQuoting(delimiter: string): boolean {
  return delimiter !== '\t' && delimiter !== '|';
}

/**
 * Yields the rows of a text, empty ones included. A row with a stray or unclosed quote is a problem of its line, and
 * the next line is a row again: a quote never takes other rows along.
 *
 * @param form.firstLine rows before this line are left out
 */
export async function* delimitedRows(
  text: AsyncIterable<string>,
  form: { delimiter: string; firstLine: number },
): AsyncGenerator<Delimited> {
  const take = createTaker(form.delimiter);
  /** The last line, which may continue in the next piece. */
  let rest = '';
  for await (const piece of withPlainNewlines(text)) {
    if (!piece.includes('\n')) {
      // Text beyond the limit is not kept in memory.
      if (rest.length <= ROW_LIMIT) rest += piece;
      continue;
    }
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const row of take(lines, false)) if (row.line >= form.firstLine) yield row;
  }
  for (const row of take(rest === '' ? [] : [rest], true)) if (row.line >= form.firstLine) yield row;
}

/** Returns a function that takes further lines and yields the rows that are whole. */
function createTaker(delimiter: string): (more: string[], isEnd: boolean) => Generator<Delimited> {
  const readRow = isQuoting(delimiter) ? readQuoted : readPlain;
  let lines: string[] = [];
  let line = 1;

  return function* take(more, isEnd) {
    lines = lines.concat(more);
    let at = 0;
    while (at < lines.length) {
      const row = readRow(lines, at, delimiter);
      if (row.kind === 'open' && !isEnd && row.characters <= ROW_LIMIT) break;
      if (row.kind === 'row') yield { line: line + at, values: row.values };
      else yield { line: line + at, problem: row.kind === 'open' ? UNCLOSED : STRAY };
      at += row.kind === 'row' ? row.lines : 1;
    }
    lines = lines.slice(at);
    line += at;
  };
}

/** `open`: a quote is not closed in the lines at hand. */
type Read =
  | { kind: 'row'; values: string[]; lines: number }
  | { kind: 'open'; characters: number }
  | { kind: 'stray' };

/** Escapes of `mysql --batch`. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\n': '\n',
  '\\t': '\t',
  '\\0': '\0',
  '\\\\': '\\',
};

function readPlain(lines: readonly string[], at: number, delimiter: string): Read {
  const text = lines[at] ?? '';
  if (text.length > ROW_LIMIT) return { kind: 'open', characters: text.length };
  const values = text.split(delimiter);
  const plain =
    delimiter === '\t'
      ? values.map((value) => value.replaceAll(/\\[nt0\\]/g, (escaped) => ESCAPES[escaped] ?? escaped))
      : values;
  return { kind: 'row', values: plain, lines: 1 };
}

/** Reads a row as RFC 4180 has it. */
function readQuoted(lines: readonly string[], at: number, delimiter: string): Read {
  const values: string[] = [];
  let number = at;
  let text = lines[number] ?? '';
  let from = 0;
  let characters = text.length;
  for (;;) {
    if (characters > ROW_LIMIT) return { kind: 'open', characters };
    if (text[from] !== '"') {
      const end = text.indexOf(delimiter, from);
      const value = text.slice(from, end < 0 ? text.length : end);
      if (value.includes('"')) return { kind: 'stray' };
      values.push(value);
      if (end < 0) return { kind: 'row', values, lines: number - at + 1 };
      from = end + 1;
      continue;
    }
    let value = '';
    let start = from + 1;
    let close = text.indexOf('"', start);
    while (close < 0 || text[close + 1] === '"') {
      if (close >= 0) {
        value += text.slice(start, close + 1);
        start = close + 2;
      } else {
        number += 1;
        const next = lines[number];
        if (next === undefined || characters > ROW_LIMIT) return { kind: 'open', characters };
        value += `${text.slice(start)}\n`;
        text = next;
        characters += next.length;
        start = 0;
      }
      close = text.indexOf('"', start);
    }
    values.push(value + text.slice(start, close));
    if (close + 1 === text.length) return { kind: 'row', values, lines: number - at + 1 };
    if (text[close + 1] !== delimiter) return { kind: 'stray' };
    from = close + 2;
  }
}

/** Converts all newlines to one kind. */
async function* withPlainNewlines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const chunk of text) {
    const piece = held + chunk;
    held = piece.endsWith('\r') ? '\r' : '';
    yield piece.slice(0, piece.length - held.length).replaceAll(/\r\n?/g, '\n');
  }
  yield held && '\n';
}
