import type { Process } from '../world/world.ts';
import type { Change, Database } from './database.ts';
import type { Row, Run, Scope } from './expressions.ts';
import { sqlError } from './locks.ts';
import { parse } from './parse.ts';
import { matching, projected, rowOf } from './select.ts';
import type { Body, Insert, Select, Statement, Update } from './syntax.ts';
import { definitionOf, keyOf, stored } from './tables.ts';

export type Result = { rows: Row[]; rowCount: number };

/** A connection, and its transaction. */
export class Session {
  readonly #database: Database;
  readonly #client: Process;
  #hasEnded = false;
  /** Whether `BEGIN` has begun the transaction: otherwise each statement is one. */
  #isOpen = false;
  #hasFailed = false;
  #begunAt = 0;
  #isRelaxed = false;
  #lockTimeoutMs = 0;
  /** What the transaction has written, by table and key; null: deleted. */
  #written = new Map<string, Map<string, Row | null>>();

  constructor(database: Database, client: Process) {
    this.#database = database;
    this.#client = client;
  }

  /** Runs one statement. @throws an error with PostgreSQL's code */
  async query(sql: string, parameters: readonly unknown[]): Promise<Result> {
    this.#assertOpen();
    const statement = parse(sql);
    if (statement.kind === 'begin') {
      this.#begin();
      this.#isOpen = true;
      return NO_ROWS;
    }
    if (statement.kind === 'commit' || statement.kind === 'rollback') {
      if (statement.kind === 'commit' && !this.#hasFailed) this.#commit();
      this.#finish();
      return NO_ROWS;
    }
    if (this.#hasFailed) throw sqlError('25P02', 'current transaction is aborted');
    if (!this.#isOpen) this.#begin();
    try {
      const result = await this.#run(statement, parameters);
      this.#assertOpen();
      if (!this.#isOpen) this.#commit();
      return result;
    } catch (error) {
      this.#hasFailed = this.#isOpen;
      throw error;
    } finally {
      if (!this.#isOpen) this.#finish();
    }
  }

  /** Ends the connection: the transaction is rolled back. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#finish();
    this.#database.disconnect(this);
  }

  #begin(): void {
    this.#begunAt = this.#database.wall();
  }

  #commit(): void {
    const changes: Change[] = [];
    for (const [table, rows] of this.#written) {
      for (const [key, after] of rows) {
        changes.push({ table, key, before: this.#database.rows(table).get(key) ?? null, after });
      }
    }
    if (changes.length > 0) {
      this.#database.commit({ changes, isRelaxed: this.#isRelaxed, client: this.#client });
    }
  }

  #finish(): void {
    this.#isOpen = false;
    this.#hasFailed = false;
    this.#isRelaxed = false;
    this.#lockTimeoutMs = 0;
    this.#written = new Map();
    this.#database.locks.release(this);
  }

  #assertOpen(): void {
    if (this.#hasEnded) throw sqlError('57P01', 'terminating connection');
  }

  async #run(statement: Statement, parameters: readonly unknown[]): Promise<Result> {
    if (statement.kind === 'lock table') {
      await this.#lock(`table ${statement.table}`, 'exclusive');
      return NO_ROWS;
    }
    if (statement.kind !== 'query') return NO_ROWS;
    // All parts of a statement see the tables as they are when it begins.
    const seen = new Map<string, readonly Row[]>();
    const rowsOf = (name: string) => {
      const rows = seen.get(name) ?? this.#rows(name);
      seen.set(name, rows);
      return rows;
    };
    const run: Run = {
      parameters,
      now: this.#begunAt,
      wall: () => this.#database.wall(),
      rowsOf,
      setConfig: (name, value) => {
        if (name === 'lock_timeout') this.#lockTimeoutMs = Number(value);
        if (name === 'synchronous_commit') this.#isRelaxed = value === 'off';
      },
    };
    const scope: Scope = { rows: new Map(), outer: null, run };
    for (const { name, body } of statement.named) seen.set(name, (await this.#body(body, scope)).rows);
    const { rows, rowCount } = await this.#body(statement.body, scope);
    return { rows: rows.map(output), rowCount };
  }

  #body(body: Body, scope: Scope): Promise<Result> {
    switch (body.kind) {
      case 'select':
        return this.#select(body, scope);
      case 'insert':
        return this.#insert(body, scope);
      case 'update':
        return this.#update(body, scope);
      case 'delete':
        return this.#update({ ...body, kind: 'update', set: null, from: [], returning: [] }, scope);
    }
  }

  async #select(select: Select, scope: Scope): Promise<Result> {
    if (select.advisoryLock) await this.#lock(`advisory ${select.advisoryLock(scope)}`, 'exclusive');
    let scopes = matching(select, scope);
    const [first] = select.from;
    if (select.isForUpdate && first?.table) {
      const { table, alias } = first;
      const locked: Scope[] = [];
      for (const one of scopes) {
        const row = await this.#lockRow(table, one.rows.get(alias));
        const again = row && { ...one, rows: new Map(one.rows).set(alias, row) };
        if (again && (!select.where || select.where(again) === true)) locked.push(again);
      }
      scopes = locked;
    }
    const rows = projected(select, scopes, scope);
    return { rows, rowCount: rows.length };
  }

  async #update(update: Omit<Update, 'set'> & { set: Update['set'] | null }, scope: Scope): Promise<Result> {
    const { table, alias, set, where, returning } = update;
    const from = [];
    for (const one of update.from) {
      if (!one.query?.isForUpdate) from.push(one);
      else {
        const { rows } = await this.#select(one.query, scope);
        from.push({ ...one, query: null, rows: () => rows });
      }
    }
    await this.#lock(`table ${table}`, 'shared');
    const target = { alias, table, query: null, rows: null };
    const rows: Row[] = [];
    const changed = new Set<string>();
    for (const one of matching({ from: [target, ...from], where }, scope)) {
      const seen = one.rows.get(alias);
      if (!seen || changed.has(keyOf(table, seen))) continue;
      const row = await this.#lockRow(table, seen);
      if (!row) continue;
      const latest = { ...one, rows: new Map(one.rows).set(alias, row) };
      if (row !== seen && where && where(latest) !== true) continue;
      changed.add(keyOf(table, row));
      const after = set && assigned(table, row, set, latest);
      this.#write(table, keyOf(table, row), after);
      const result = { ...latest, rows: new Map(latest.rows).set(alias, after ?? row) };
      rows.push(rowOf(returning, result));
    }
    return { rows, rowCount: rows.length };
  }

  async #insert(insert: Insert, scope: Scope): Promise<Result> {
    const { table, alias, columns, source, conflict, returning } = insert;
    await this.#lock(`table ${table}`, 'shared');
    const lists =
      'kind' in source
        ? matching(source, scope).map((one) => source.columns.map(({ value }) => value(one)))
        : [source.map((value) => value(scope))];
    const rows: Row[] = [];
    for (const values of lists) {
      const given = columns.map((column, nth) => [column, stored(table, column, values[nth])] as const);
      const row: Row = { ...definitionOf(table).defaults(this.#begunAt), ...Object.fromEntries(given) };
      const after = await this.#insertOne(insert, row, scope);
      if (after) rows.push(rowOf(returning, { ...scope, outer: null, rows: new Map([[alias, after]]) }));
      else if (!conflict) throw sqlError('23505', `duplicate key in ${table}`);
    }
    return { rows, rowCount: rows.length };
  }

  /** @returns the row as it is now; null where nothing was written */
  async #insertOne({ table, alias, conflict }: Insert, row: Row, scope: Scope): Promise<Row | null> {
    const key = keyOf(table, row);
    const existing = await this.#lockRow(table, row);
    if (!existing) {
      this.#write(table, key, row);
      return row;
    }
    if (!conflict?.set) return null;
    const rows = new Map([
      [alias, existing],
      ['excluded', row],
    ]);
    const both = { ...scope, rows };
    // A name without a table means the existing row.
    if (conflict.where && conflict.where(both) !== true) return null;
    const after = assigned(table, existing, conflict.set, both);
    this.#write(table, key, after);
    return after;
  }

  /** @returns the row as it is once it is locked; undefined: there is none */
  async #lockRow(table: string, row: Row | undefined): Promise<Row | undefined> {
    if (!row) return undefined;
    const key = keyOf(table, row);
    await this.#lock(`row ${table} ${key}`, 'exclusive');
    const own = this.#written.get(table);
    return (own?.has(key) ? own.get(key) : this.#database.rows(table).get(key)) ?? undefined;
  }

  async #lock(key: string, mode: 'shared' | 'exclusive'): Promise<void> {
    await this.#database.locks.take(key, this, mode, this.#lockTimeoutMs);
    this.#assertOpen();
  }

  #rows(table: string): readonly Row[] {
    const own = this.#written.get(table);
    const committed = this.#database.rows(table);
    if (!own) return [...committed.values()];
    return [...new Map([...committed, ...own]).values()].filter((row) => row !== null);
  }

  #write(table: string, key: string, row: Row | null): void {
    const rows = this.#written.get(table) ?? new Map<string, Row | null>();
    this.#written.set(table, rows.set(key, row));
  }
}

const NO_ROWS: Result = { rows: [], rowCount: 0 };

function assigned(table: string, row: Row, set: Update['set'], scope: Scope): Row {
  const after: Record<string, unknown> = { ...row };
  for (const { column, value } of set) after[column] = stored(table, column, value(scope));
  return after;
}

/** Returns a row as `pg` does: `numeric` is text. */
function output(row: Row): Row {
  const shown: Record<string, unknown> = {};
  for (const name in row) shown[name] = typeof row[name] === 'bigint' ? String(row[name]) : row[name];
  return shown;
}
