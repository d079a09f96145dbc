import type { CreateRow } from '../create-row.ts';
import type { SourceRow } from '../source-row.ts';

/** A kind of file that links are imported from. */
export type Format = {
  name: string;
  /** Returns whether a file is of this kind, by one row's columns (see `columnKey`). */
  matches(row: SourceRow): boolean;
  /**
   * Returns the create bodies of a row.
   *
   * @throws {RowProblem} when the row can't be a link here
   */
  read(row: SourceRow): CreateRow[];
};
