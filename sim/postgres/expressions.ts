/** A row of a table, or of a query. `bigint`: of type `numeric`. Times are milliseconds. */
export type Row = Readonly<Record<string, unknown>>;

/** What a statement reads besides the rows of its tables. */
export type Run = {
  parameters: readonly unknown[];
  /** `now()`: the begin of the transaction. */
  now: number;
  /** `clock_timestamp()`. */
  wall(): number;
  /** Returns the rows of a table, or of a named query, as the statement sees them. */
  rowsOf(name: string): readonly Row[];
  setConfig(name: string, value: string): void;
};

/** The rows of a query's tables by alias, and those of the query around it. */
export type Scope = {
  rows: ReadonlyMap<string, Row>;
  outer: Scope | null;
  run: Run;
  /** The rows that an aggregate is of. */
  group?: readonly Scope[];
};

export type Expression = (scope: Scope) => unknown;

/** Returns the value of a column, of the nearest query that has it. */
export function columnOf(scope: Scope, table: string | null, name: string): unknown {
  for (let at: Scope | null = scope; at; at = at.outer) {
    if (table !== null) {
      const row = at.rows.get(table);
      if (row) return row[name] ?? null;
      continue;
    }
    for (const row of at.rows.values()) if (name in row) return row[name] ?? null;
  }
  throw new Error(`no column ${table === null ? '' : `${table}.`}${name}`);
}

/** Converts a value as PostgreSQL does when it assigns or casts. */
export function converted(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (type.endsWith('[]')) return (value as unknown[]).map((one) => converted(one, type.slice(0, -2)));
  switch (type) {
    case 'numeric':
      return BigInt(value as string | number | bigint);
    case 'bigint':
    case 'int':
    case 'smallint':
      return Math.trunc(Number(value));
    case 'float8':
      return Number(value);
    case 'jsonb':
      return typeof value === 'string' ? JSON.parse(value) : value;
    default:
      return value;
  }
}

/** Compares two values; null where one of them is. A parameter has the type of what it is compared with. */
export function compared(a: unknown, b: unknown): number | null {
  if (a === null || a === undefined || b === null || b === undefined) return null;
  const [x, y] = sameType(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

type Comparable = string | number | bigint | boolean;

function sameType(a: unknown, b: unknown): [Comparable, Comparable] {
  if (typeof a === typeof b) return [a as Comparable, b as Comparable];
  if (typeof a === 'bigint' || typeof b === 'bigint') return [BigInt(a as string), BigInt(b as string)];
  return [Number(a), Number(b)];
}

export function isDistinct(a: unknown, b: unknown): boolean {
  const order = compared(a, b);
  return order === null ? (a ?? null) !== (b ?? null) : order !== 0;
}

const ORDERS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

export const COMPARISONS: readonly string[] = Object.keys(ORDERS);

export function comparison(operator: string, left: Expression, right: Expression): Expression {
  const holds = ORDERS[operator];
  if (!holds) throw new Error(`no operator ${operator}`);
  return (scope) => {
    const order = compared(left(scope), right(scope));
    return order === null ? null : holds(order);
  };
}

/** `AND`, where `decisive` is false; `OR`, where it is true. */
export function logical(left: Expression, right: Expression, decisive: boolean): Expression {
  return (scope) => {
    const first = left(scope);
    if (first === decisive) return decisive;
    const second = right(scope);
    if (second === decisive) return decisive;
    return first === null || second === null ? null : !decisive;
  };
}

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};

export function arithmetic(operator: string, left: Expression, right: Expression): Expression {
  const operation = OPERATIONS[operator];
  if (!operation) throw new Error(`no operator ${operator}`);
  return (scope) => {
    const [a, b] = [left(scope), right(scope)];
    return a === null || b === null ? null : operation(Number(a), Number(b));
  };
}

const UNITS: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
};

/** Returns the milliseconds of an interval such as `5 seconds`. */
export function intervalMs(text: string): number {
  const [count, unit = ''] = text.split(' ');
  const ms = UNITS[unit.replace(/s$/, '')];
  if (ms === undefined) throw new Error(`no interval ${text}`);
  return Number(count) * ms;
}

const leastOf = (values: readonly unknown[], sign: 1 | -1): unknown =>
  values.reduce((best: unknown, value) => {
    const order = compared(value, best);
    if (order === null) return best ?? value ?? null;
    return order * sign < 0 ? value : best;
  }, null);

export const AGGREGATES: Readonly<Record<string, (values: readonly unknown[]) => unknown>> = {
  min: (values) => leastOf(values, 1),
  max: (values) => leastOf(values, -1),
};

export const FUNCTIONS: Readonly<Record<string, (args: readonly unknown[], run: Run) => unknown>> = {
  now: (_, run) => run.now,
  clock_timestamp: (_, run) => run.wall(),
  greatest: (args) => leastOf(args, -1),
  least: (args) => leastOf(args, 1),
  coalesce: (args) => args.find((value) => value !== null && value !== undefined) ?? null,
  to_timestamp: ([seconds]) => Number(seconds) * 1_000,
  set_config([name, value], run) {
    run.setConfig(String(name), String(value));
    return value;
  },
};
