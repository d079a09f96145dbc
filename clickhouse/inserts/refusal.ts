import { ClickHouseError } from '@clickhouse/client';

/**
 * Codes by which ClickHouse refuses the rows themselves: sending them again can't help. Everything else (too many
 * parts, memory, a missing table, a connection) passes with time. Source: ClickHouse `src/Common/ErrorCodes.cpp`.
 */
const REFUSALS = new Set([
  '6', // CANNOT_PARSE_TEXT
  '26', // CANNOT_PARSE_QUOTED_STRING
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '38', // CANNOT_PARSE_DATE
  '41', // CANNOT_PARSE_DATETIME
  '53', // TYPE_MISMATCH
  '69', // ARGUMENT_OUT_OF_BOUND
  '70', // CANNOT_CONVERT_TYPE
  '117', // INCORRECT_DATA
  '128', // TOO_LARGE_ARRAY_SIZE
  '131', // TOO_LARGE_STRING_SIZE
  '321', // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
  '349', // CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
  '407', // DECIMAL_OVERFLOW
  '469', // VIOLATED_CONSTRAINT
  '691', // UNKNOWN_ELEMENT_OF_ENUM
]);

/** Returns whether ClickHouse refused the rows themselves, and would again. */
export function isRefusal(error: unknown): error is ClickHouseError {
  return error instanceof ClickHouseError && REFUSALS.has(error.code);
}

/** Thrown when ClickHouse refused rows of a block whose other rows it stored. */
export class RowsRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RowsRefused';
  }
}

/** Returns whether a write failed because of its rows. */
export function refusesRows(error: unknown): error is ClickHouseError | RowsRefused {
  return isRefusal(error) || error instanceof RowsRefused;
}
