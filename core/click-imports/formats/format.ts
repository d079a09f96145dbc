import type { ClickRow } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';

/** A kind of file that clicks are imported from. */
export type ClickFormat = {
  /** As it is shown. */
  name: string;
  /** Columns, by `columnKey`, of which a row has one of each list. */
  needs: readonly (readonly string[])[];
  /** What to do about a file without them. */
  hint: string;
  /**
   * Returns the clicks of a row; none: it holds no click.
   *
   * @throws {RowProblem} when a value is wrong
   */
  read(row: ImportRow): ClickRow[];
};
