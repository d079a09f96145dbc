import type { LinkName } from '../../core/click-imports/click-row.ts';
import type { FileFormat } from '../../core/click-imports/formats/format.ts';
import { isOfFormat, WrongClickFile } from '../../core/click-imports/formats/known.ts';
import type { RowProblem } from '../../core/link-imports/source-row.ts';
import { shownName } from './imported-links.ts';

/** Most errors in a result. */
const SHOWN_ERRORS = 1_000;

export type ClickImportError = { line: number; link: string | null; field: string | null; message: string };

export type ClickImportResult = {
  import_id: string;
  dry_run: boolean;
  /** Rows of the file, readable or not. */
  read: number;
  /** Rows whose clicks or order were stored. */
  created: number;
  /** The clicks that were stored. */
  clicks: number;
  /** The orders that were stored. */
  orders: number;
  /** Rows that are stored already, or have no click. */
  skipped: number;
  /** Rows with an error. */
  failed: number;
  /** Columns that the import ignored. */
  unknown_columns: string[];
  /** The first thousand errors. */
  errors: ClickImportError[];
};

export function emptyResult(importId: string, isDryRun: boolean): ClickImportResult {
  return {
    import_id: importId,
    dry_run: isDryRun,
    read: 0,
    created: 0,
    clicks: 0,
    orders: 0,
    skipped: 0,
    failed: 0,
    unknown_columns: [],
    errors: [],
  };
}

/** Adds the error of a row to a result. */
export function addError(
  result: ClickImportResult,
  line: number,
  link: LinkName | null,
  { column: field, message }: RowProblem,
): void {
  result.failed += 1;
  if (result.errors.length < SHOWN_ERRORS) {
    result.errors.push({ line, link: shownName(link), field, message });
  }
}

/**
 * Checks that a file is of its format, by its columns.
 *
 * @param unreadable the first error of a file without readable rows
 * @throws {WrongClickFile} when it is not
 */
export function requireFormat(
  format: FileFormat,
  columns: { has(key: string): boolean },
  unreadable?: ClickImportError,
): void {
  if (isOfFormat(format, columns)) return;
  const reason = unreadable ? `line ${unreadable.line} ${unreadable.message}` : format.hint;
  throw new WrongClickFile(`not an export of ${format.name}: ${reason}`);
}
