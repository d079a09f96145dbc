import type { ClickRow } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';

/** How a kind of file is recognized. */
export type FileFormat = {
  /** As it is shown. */
  name: string;
  /** Columns, by `columnKey`, of which a row has one of each list. */
  needs: readonly (readonly string[])[];
  /** What to do about a file without them. */
  hint: string;
};

/** A kind of file that clicks are imported from. */
export type ClickFormat = FileFormat & {
  /**
   * Returns the clicks of a row; none: it holds no click.
   *
   * @throws {RowProblem} when a value is wrong
   */
  read(row: ImportRow): ClickRow[];
};
