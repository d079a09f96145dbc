import type { DatabaseName, FaultKind } from './faults.ts';

/** A connection to a database that failed for a reason which the error's own code does not tell. */
export class DatabaseConnectionError extends Error {
  readonly database: DatabaseName;
  readonly kind: FaultKind;
  /** Code of the cause; empty: none. */
  readonly code: string;
  /** The setting that is wrong; null: not known. */
  readonly setting: string | null;

  constructor(
    database: DatabaseName,
    kind: FaultKind,
    message: string,
    { cause, code = '', setting = null }: { cause?: unknown; code?: string; setting?: string | null } = {},
  ) {
    super(message, { cause });
    this.name = 'DatabaseConnectionError';
    this.database = database;
    this.kind = kind;
    this.code = code;
    this.setting = setting;
  }
}
