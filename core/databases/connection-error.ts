import type { DatabaseName, FaultKind } from './faults.ts';

/** Thrown when a connection to a database fails. It names the reason, which the driver's error code may lack. */
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
