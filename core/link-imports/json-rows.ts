// Browsers run this file too.
import { parsedJson } from './parsed-json.ts';
import { repetitionIn } from './repeated-names.ts';
import { columnKey, type ReadRow, RowProblem, sourceRow } from './source-row.ts';

/** Longest text before or around a row, such as the wrapper of an API's page. Characters. */
const WAIT_LIMIT = 262_144;
/**
 * Limits of a row: characters, and fields. Parsing a row blocks the event loop, which in the API other requests share.
 */
const ROW_LIMIT = 65_536;
const MOST_FIELDS = 500;

/** The names of the destination in all formats, by `columnKey`. An object with one of these is a link. */
const DESTINATIONS: ReadonlySet<string> = new Set([
  'destinationurl',
  'destinationid',
  'longurl',
  'originalurl',
  'url',
  'target',
  'destination',
  'targeturl',
  'longlink',
]);

type IsRow = (values: Record<string, unknown>) => boolean;

/**
 * Yields the rows of a JSON export, read piece by piece: the objects in an array, be it the document or inside a
 * wrapper such as `{ "links": [...], "pagination": {...} }`. Consecutive documents, as from the pages of an API, are
 * read one after the other. An object that wraps nothing is a row itself: a single link, or a line of JSON lines.
 *
 * @param isRow whether an object is a row, and not a wrapper; by default whether it has a link's destination
 */
export async function* jsonRows(text: AsyncIterable<string>, isRow: IsRow = isLink): AsyncGenerator<ReadRow> {
  const scanner = createScanner(isRow);
  for await (const chunk of text) {
    for (const found of scanner.scan(chunk)) {
      yield* rowsOf(found, isRow);
    }
    if (scanner.pending() > WAIT_LIMIT) break;
  }
  if (!scanner.isWhole()) {
    const problem = new RowProblem(null, 'cannot be read, and nothing after it: the JSON is cut off');
    yield { line: scanner.line(), problem };
  }
}

/**
 * `row`: an object in an array. `document`: one outside arrays, without a row in it. `stray`: a value that is not an
 * object.
 */
type Found = { line: number; kind: 'row' | 'document'; json: string } | { line: number; kind: 'stray' };

/** YOURLS wraps its links in an object: `{ "links": { "link_1": {...}, "link_2": {...} } }`. */
function* rowsOf(found: Found, isRow: IsRow): Generator<ReadRow> {
  if (found.kind === 'document') {
    const wrapped = wrappedRows(found.json, isRow);
    if (wrapped !== null) {
      for (const values of wrapped.rows) yield sourceRow('json', found.line, values, wrapped.contradiction);
      return;
    }
  }
  const row = rowOf(found, isRow);
  if (row) yield row;
}

type WrappedRows = { rows: Record<string, unknown>[]; contradiction: RowProblem | null };

/** @returns null when no object in the document has rows alone */
function wrappedRows(json: string, isRow: IsRow): WrappedRows | null {
  let values: unknown;
  try {
    values = parsedJson(json, null);
  } catch {
    return null; // read again as a row, which tells what is wrong
  }
  if (!isObject(values) || isRow(values)) return null;
  const [rows] = Object.values(values)
    .filter(isObject)
    .map((inner) => Object.values(inner).filter(isObject))
    .filter((inner) => inner.length > 0 && inner.every(isRow));
  return rows === undefined ? null : { rows, contradiction: repetitionIn(json, values) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function rowOf(found: Found, isRow: IsRow): ReadRow | null {
  const { line } = found;
  if (found.kind === 'stray') {
    const problem = new RowProblem(
      null,
      'must be an object: rows are JSON objects, in an array or one after the other',
    );
    return { line, problem };
  }
  try {
    if (found.json.length > ROW_LIMIT) throw new RowProblem(null, `must be at most ${ROW_LIMIT} characters`);
    const values = parsedJson(found.json, null) as Record<string, unknown>;
    if (Object.keys(values).length > MOST_FIELDS) {
      throw new RowProblem(null, `must have at most ${MOST_FIELDS} fields`);
    }
    // The last page of an API wraps an empty list. The formats reject anything else.
    if (found.kind === 'document' && !isRow(values) && holdsEmptyList(values)) return null;
    return sourceRow('json', line, values, repetitionIn(found.json, values));
  } catch (error) {
    if (error instanceof RowProblem) return { line, problem: error };
    throw error;
  }
}

function isLink(values: Record<string, unknown>): boolean {
  return Object.keys(values).some((name) => DESTINATIONS.has(columnKey(name)));
}

/** Depth is bounded where JSON is parsed. */
function holdsEmptyList(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsEmptyList);
}

function beginsRow(json: string, isRow: IsRow): boolean {
  try {
    return isRow(JSON.parse(json) as Record<string, unknown>);
  } catch {
    return false;
  }
}

function createScanner(isRow: IsRow) {
  /** The containers around the current position: `[` and `{`. */
  const open: string[] = [];
  /** How many of them are outside the current object; null: there is none. */
  let outside: number | null = null;
  /** Whether the current object is outside arrays, and may wrap rows. */
  let isDocument = false;
  let partial = '';
  let line = 1;
  let rowLine = 1;
  let inString = false;
  let escaped = false;
  let inStray = false;

  function* scan(chunk: string): Generator<Found> {
    let start = 0;
    const begin = (at: number) => {
      outside = open.length;
      start = at;
      rowLine = line;
    };
    for (let at = 0; at < chunk.length; at += 1) {
      const character = chunk.charAt(at);
      if (character === '\n') line += 1;
      if (inString) {
        if (escaped) escaped = false;
        else if (character === '\\') escaped = true;
        else if (character === '"') inString = false;
        continue;
      }
      if (outside === null && open.length < 2 && open[0] !== '{') {
        const isBetween = /[\s,[\]{}]/.test(character);
        if (!isBetween && !inStray) yield { line, kind: 'stray' };
        inStray = !isBetween;
      }
      if (character === '"') inString = true;
      else if (character === '{' || character === '[') {
        const inList = open.at(-1) === '[';
        if (character === '{' && outside === null && (inList || open.length === 0)) {
          begin(at);
          isDocument = !inList;
        } else if (character === '{' && isDocument && inList) {
          isDocument = false;
          const before = partial + chunk.slice(start, at);
          if (!beginsRow(before + closed(open), isRow)) {
            partial = '';
            begin(at);
          }
        }
        open.push(character);
      } else if (character === '}' || character === ']') {
        open.pop();
        if (outside === null || open.length > outside) continue;
        const json = partial + chunk.slice(start, at + 1);
        partial = '';
        outside = null;
        yield { line: rowLine, kind: isDocument ? 'document' : 'row', json };
        isDocument = false;
      }
    }
    if (outside !== null) partial += chunk.slice(start);
  }

  return {
    scan,
    pending: () => partial.length,
    isWhole: () => open.length === 0,
    line: () => (outside === null ? line : rowLine),
  };
}

function closed(open: string[]): string {
  return open
    .toReversed()
    .map((bracket) => (bracket === '[' ? ']' : '}'))
    .join('');
}
