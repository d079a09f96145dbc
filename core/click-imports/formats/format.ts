import type { ClickRow } from '../click-row.ts';
import type { ImportRow } from '../import-row.ts';

/** How a kind of file is recognized. */
export type FileFormat = {
  /** Name that people see. */
  name: string;
  /** Columns, by `columnKey`. A row must have one of each list. */
  needs: readonly (readonly string[])[];
  /** Advice for a file without them. */
  hint: string;
};

/** A kind of file that clicks are imported from. */
export type ClickFormat = FileFormat & {
  /** Rows are counts of a day or an hour that grow until it is over, each with a name of its own (`sourceId`). */
  grows?: true;
  /**
   * Returns the clicks of a row; none: it holds no click.
   *
   * @throws {RowProblem} when a value is wrong
   */
  read(row: ImportRow): ClickRow[];
};
