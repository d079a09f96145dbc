import { parsedJson } from './parsed-json.ts';
import { type ReadRow, RowProblem, sourceRow } from './source-row.ts';

/** A row with more characters than this is not waited for. */
const ROW_LIMIT = 1_048_576;

/**
 * The rows of a JSON export, read piece by piece: the objects that stand in an array, be it the document itself or
 * inside what an API wraps around it, such as `{ "links": [...], "pagination": {...} }`. Several documents in a row,
 * as from the pages of an API, are read one after the other.
 */
export async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<ReadRow> {
  const scanner = createScanner();
  for await (const chunk of text) {
    for (const found of scanner.scan(chunk)) yield rowOf(found);
    if (scanner.pending() > ROW_LIMIT) break;
  }
  if (!scanner.isWhole()) {
    const problem = new RowProblem(null, 'can not be read, and nothing after it: the JSON is cut off');
    yield { line: scanner.line(), problem };
  }
}

type Found = { line: number; json: string };

function rowOf({ line, json }: Found): ReadRow {
  try {
    return sourceRow(line, parsedJson(json, null) as Record<string, unknown>);
  } catch (error) {
    if (error instanceof RowProblem) return { line, problem: error };
    throw error;
  }
}

/** Finds where the objects begin and end; what is between is for `JSON.parse` to judge. */
function createScanner() {
  /** The containers around the present place: `[` and `{`. */
  const open: string[] = [];
  /** How many of them are outside the row under way; null: none is. */
  let outside: number | null = null;
  let kept = '';
  let line = 1;
  let rowLine = 1;
  let inString = false;
  let escaped = false;

  function* scan(chunk: string): Generator<Found> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const character = chunk[at];
      if (character === '\n') line += 1;
      if (inString) {
        if (escaped) escaped = false;
        else if (character === '\\') escaped = true;
        else if (character === '"') inString = false;
      } else if (character === '"') inString = true;
      else if (character === '{' || character === '[') {
        if (character === '{' && outside === null && open.at(-1) === '[') {
          outside = open.length;
          start = at;
          rowLine = line;
        }
        open.push(character);
      } else if (character === '}' || character === ']') {
        open.pop();
        if (outside === null || open.length > outside) continue;
        const json = kept + chunk.slice(start, at + 1);
        kept = '';
        outside = null;
        yield { line: rowLine, json };
      }
    }
    if (outside !== null) kept += chunk.slice(start);
  }

  return {
    scan,
    pending: () => kept.length,
    isWhole: () => open.length === 0,
    line: () => (outside === null ? line : rowLine),
  };
}
