import type { Row, Scope } from './expressions.ts';
import type { Column, From, Select } from './syntax.ts';

/** Returns the rows of a query that waits for no lock. */
export function selectNow(query: Select, outer: Scope): Row[] {
  return projected(query, matching(query, outer), outer);
}

/** Returns a scope for each combination of rows that a query's condition holds for. */
export function matching(query: Pick<Select, 'from' | 'where'>, outer: Scope): Scope[] {
  return combined(query.from, outer).filter((scope) => !query.where || query.where(scope) === true);
}

/** Returns the columns of a query's rows. */
export function projected(query: Select, scopes: readonly Scope[], outer: Scope): Row[] {
  if (query.isAggregate) {
    return [rowOf(query.columns, { rows: new Map(), outer, run: outer.run, group: scopes })];
  }
  const limited = query.limit === null ? scopes : scopes.slice(0, query.limit);
  return limited.map((scope) => rowOf(query.columns, scope));
}

export function rowOf(columns: readonly Column[], scope: Scope): Row {
  const row: Record<string, unknown> = {};
  for (const { name, value } of columns) row[name] = value(scope);
  return row;
}

function combined(from: readonly From[], outer: Scope): Scope[] {
  const { run } = outer;
  let scopes: Scope[] = [{ rows: new Map(), outer, run }];
  for (const one of from) {
    const before = scopes;
    const rows = rowsOf(one, outer);
    scopes = [];
    for (const scope of before) {
      for (const row of rows) scopes.push({ rows: new Map(scope.rows).set(one.alias, row), outer, run });
    }
  }
  return scopes;
}

function rowsOf({ table, query, rows }: From, outer: Scope): readonly Row[] {
  if (table !== null) return outer.run.rowsOf(table);
  if (rows) return rows(outer);
  return query ? selectNow(query, outer) : [];
}
