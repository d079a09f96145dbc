import type { Expression, Row, Scope } from './expressions.ts';
import { ExpressionParser } from './parse-expression.ts';
import type { Assignment, Body, Column, Delete, From, Insert, Select, Statement, Update } from './syntax.ts';

/**
 * The SQL of lanes and streams, parsed: as much of PostgreSQL's language as the statements of `sql/event-log` use. What
 * it does not know is an error, so a changed statement can't be taken for another one.
 */

const known = new Map<string, Statement>();

/** Parses a statement. @throws Error for what it does not know */
export function parse(sql: string): Statement {
  const parsed = known.get(sql) ?? new Parser(sql).statement();
  known.set(sql, parsed);
  return parsed;
}

class Parser extends ExpressionParser {
  statement(): Statement {
    const statement = this.#statement();
    this.tokens.takes(';');
    if (!this.tokens.hasEnded) throw this.tokens.unknown();
    return statement;
  }

  #statement(): Statement {
    for (const kind of ['begin', 'commit', 'rollback'] as const) if (this.tokens.takes(kind)) return { kind };
    if (this.tokens.takes('lock')) {
      this.tokens.expect('table');
      const table = this.tokens.name();
      for (const word of ['in', 'share', 'row', 'exclusive', 'mode']) this.tokens.expect(word);
      return { kind: 'lock table', table };
    }
    const named: { name: string; body: Body }[] = [];
    if (this.tokens.takes('with')) {
      do {
        const name = this.tokens.name();
        this.tokens.expect('as');
        this.tokens.takes('materialized');
        named.push({ name, body: this.inParentheses(() => this.#body()) });
      } while (this.tokens.takes(','));
    }
    return { kind: 'query', named, body: this.#body() };
  }

  #body(): Body {
    if (this.tokens.takes('select')) return this.select();
    if (this.tokens.takes('update')) return this.#update();
    if (this.tokens.takes('insert')) return this.#insert();
    if (this.tokens.takes('delete')) return this.#delete();
    throw this.tokens.unknown();
  }

  /** After `SELECT`. */
  protected select(): Select {
    const outer = this.hasAggregate;
    this.hasAggregate = false;
    this.advisoryLock = null;
    const columns = this.tokens.isAt('from') ? [] : this.#columns();
    const isAggregate = this.hasAggregate;
    this.hasAggregate = outer;
    const advisoryLock = this.advisoryLock as Expression | null;
    this.advisoryLock = null;
    const from = this.tokens.takes('from') ? this.#froms() : [];
    const where = this.tokens.takes('where') ? this.expression() : null;
    const limit = this.tokens.takes('limit') ? Number(this.tokens.next().text) : null;
    const isForUpdate = this.tokens.takes('for');
    if (isForUpdate) this.tokens.expect('update');
    return { kind: 'select', columns, from, where, isAggregate, limit, isForUpdate, advisoryLock };
  }

  #update(): Update {
    const { table, alias } = this.#target();
    this.tokens.expect('set');
    const set = this.#assignments();
    const from = this.tokens.takes('from') ? this.#froms() : [];
    const where = this.tokens.takes('where') ? this.expression() : null;
    return { kind: 'update', table, alias, set, from, where, returning: this.#returning() };
  }

  #delete(): Delete {
    this.tokens.expect('from');
    const { table, alias } = this.#target();
    return { kind: 'delete', table, alias, where: this.tokens.takes('where') ? this.expression() : null };
  }

  #insert(): Insert {
    this.tokens.expect('into');
    const { table, alias } = this.#target();
    const columns = this.inParentheses(() => this.list(() => this.tokens.name()));
    const source = this.#source();
    const conflict = this.tokens.takes('on') ? this.#conflict() : null;
    return { kind: 'insert', table, alias, columns, source, conflict, returning: this.#returning() };
  }

  #source(): Insert['source'] {
    if (this.tokens.takes('values')) return this.inParentheses(() => this.list(() => this.expression()));
    this.tokens.expect('select');
    return this.select();
  }

  #conflict(): NonNullable<Insert['conflict']> {
    this.tokens.expect('conflict');
    if (this.tokens.isAt('(')) this.inParentheses(() => this.list(() => this.tokens.name()));
    this.tokens.expect('do');
    if (this.tokens.takes('nothing')) return { set: null, where: null };
    this.tokens.expect('update');
    this.tokens.expect('set');
    const set = this.#assignments();
    return { set, where: this.tokens.takes('where') ? this.expression() : null };
  }

  #target(): { table: string; alias: string } {
    const table = this.tokens.name();
    return { table, alias: this.tokens.takes('as') ? this.tokens.name() : table };
  }

  #returning(): Column[] {
    return this.tokens.takes('returning') ? this.#columns() : [];
  }

  #assignments(): Assignment[] {
    return this.list(() => {
      const column = this.tokens.name();
      this.tokens.expect('=');
      return { column, value: this.expression() };
    });
  }

  #columns(): Column[] {
    return this.list(() => {
      const value = this.expression();
      if (this.tokens.takes('as')) return { name: this.tokens.next().text, value };
      // As PostgreSQL names it: by the last name of `lane.epoch`.
      const { last } = this.tokens;
      return { name: last?.kind === 'word' ? last.text : '?column?', value };
    });
  }

  #froms(): From[] {
    return this.list(() => {
      if (this.tokens.takes('(')) {
        this.tokens.expect('select');
        const query = this.select();
        this.tokens.expect(')');
        this.tokens.expect('as');
        return { alias: this.tokens.name(), table: null, query, rows: null };
      }
      const name = this.tokens.name();
      if (!this.tokens.isAt('(')) {
        const alias = this.tokens.takes('as') ? this.tokens.name() : name;
        return { alias, table: name, query: null, rows: null };
      }
      const args = this.inParentheses(() => this.list(() => this.expression()));
      this.tokens.expect('as');
      const alias = this.tokens.name();
      const columns = this.tokens.isAt('(')
        ? this.inParentheses(() => this.list(() => this.tokens.name()))
        : [alias];
      return { alias, table: null, query: null, rows: rowsOfFunction(name, args, columns) };
    });
  }
}

/** The rows of `unnest` and `generate_series`. */
function rowsOfFunction(name: string, args: readonly Expression[], columns: readonly string[]) {
  if (name !== 'unnest' && name !== 'generate_series') throw new Error(`no function ${name}`);
  return (scope: Scope): Row[] => {
    if (name === 'generate_series') {
      const [first, last] = args.map((arg) => Number(arg(scope)));
      const length = Math.max(0, (last ?? 0) - (first ?? 0) + 1);
      return Array.from({ length }, (_, index) => ({ [columns[0] ?? '']: (first ?? 0) + index }));
    }
    const lists = args.map((arg) => arg(scope) as unknown[]);
    return (lists[0] ?? []).map((_, index) => {
      const row: Record<string, unknown> = {};
      for (const [nth, column] of columns.entries()) row[column] = lists[nth]?.[index] ?? null;
      return row;
    });
  };
}
