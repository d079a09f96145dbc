import { unstorableIn } from '../text/storable.ts';
import { RowProblem } from './source-row.ts';

/**
 * Parses JSON that stands in a file of somebody else.
 *
 * @param column as the file calls it; null: the row as a whole
 * @throws {RowProblem} when it is none, or can't be kept as it is
 */
export function parsedJson(text: string, column: string | null): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RowProblem(column, `is no JSON: ${(error as Error).message}`);
  }
  const problem = unstorableIn(value);
  if (problem) throw new RowProblem(column ?? (problem.path || null), problem.message);
  return value;
}
