import type { Expression, Row, Scope } from './expressions.ts';

export type Column = { name: string; value: Expression };

/** One of the tables of a query: a table, a named query, a function's rows, or a query. */
export type From = {
  alias: string;
  table: string | null;
  query: Select | null;
  rows: ((scope: Scope) => readonly Row[]) | null;
};

export type Select = {
  kind: 'select';
  columns: readonly Column[];
  from: readonly From[];
  where: Expression | null;
  isAggregate: boolean;
  limit: number | null;
  isForUpdate: boolean;
  /** The argument of `pg_advisory_xact_lock`. */
  advisoryLock: Expression | null;
};

export type Assignment = { column: string; value: Expression };

export type Update = {
  kind: 'update';
  table: string;
  alias: string;
  set: readonly Assignment[];
  from: readonly From[];
  where: Expression | null;
  returning: readonly Column[];
};

export type Delete = { kind: 'delete'; table: string; alias: string; where: Expression | null };

export type Insert = {
  kind: 'insert';
  table: string;
  alias: string;
  columns: readonly string[];
  source: readonly Expression[] | Select;
  conflict: { set: readonly Assignment[] | null; where: Expression | null } | null;
  returning: readonly Column[];
};

export type Body = Select | Update | Delete | Insert;

export type Statement =
  | { kind: 'query'; named: readonly { name: string; body: Body }[]; body: Body }
  | { kind: 'lock table'; table: string }
  | { kind: 'begin' | 'commit' | 'rollback' };
