// Browsers run this file too.
import { unstorableIn } from '../text/storable.ts';
import { faultIn } from './json-fault.ts';
import { RowProblem } from './source-row.ts';

/**
 * Parses JSON of an imported file.
 *
 * @param column the file's name of the column; null: the row as a whole
 * @throws {RowProblem} when it is not JSON, or can't be stored
 */
export function parsedJson(text: string, column: string | null): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column: at } = faultIn(text);
    throw new RowProblem(column, `must be JSON: the value is wrong at line ${line}, column ${at}`);
  }
  const problem = unstorableIn(value);
  if (problem) throw new RowProblem(column ?? (problem.path || null), problem.message);
  return value;
}
