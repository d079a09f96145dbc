import {
  AGGREGATES,
  arithmetic,
  COMPARISONS,
  columnOf,
  comparison,
  converted,
  type Expression,
  FUNCTIONS,
  intervalMs,
  isDistinct,
  logical,
} from './expressions.ts';
import { selectNow } from './select.ts';
import type { Select } from './syntax.ts';
import { Tokens } from './tokens.ts';

/** Parses the expressions of a statement. */
export abstract class ExpressionParser {
  protected readonly tokens: Tokens;
  /** Whether an aggregate was seen in the columns that are being parsed. */
  protected hasAggregate = false;
  protected advisoryLock: Expression | null = null;

  constructor(sql: string) {
    this.tokens = new Tokens(sql);
  }

  /** Parses a query after `SELECT`. */
  protected abstract select(): Select;

  protected expression(): Expression {
    let left = this.#conjunction();
    while (this.tokens.takes('or')) left = logical(left, this.#conjunction(), true);
    return left;
  }

  #conjunction(): Expression {
    let left = this.#negation();
    while (this.tokens.takes('and')) left = logical(left, this.#negation(), false);
    return left;
  }

  #negation(): Expression {
    if (!this.tokens.takes('not')) return this.#comparison();
    const value = this.#negation();
    return (scope) => {
      const found = value(scope);
      return found === null ? null : found !== true;
    };
  }

  #comparison(): Expression {
    const left = this.#sum();
    if (this.tokens.takes('is')) return this.#is(left);
    if (this.tokens.takes('in')) {
      const list = this.inParentheses(() => this.list(() => this.expression()));
      return list.map((value) => comparison('=', left, value)).reduce((a, b) => logical(a, b, true));
    }
    const sign = this.tokens.takesOne(...COMPARISONS);
    if (sign === null) return left;
    if (!this.tokens.takes('any')) return comparison(sign, left, this.#sum());
    const array = this.inParentheses(() => this.expression());
    return (scope) =>
      (array(scope) as unknown[]).some((value) => comparison(sign, left, () => value)(scope) === true);
  }

  #is(left: Expression): Expression {
    const isNegated = this.tokens.takes('not');
    if (this.tokens.takes('null')) return (scope) => (left(scope) === null) !== isNegated;
    this.tokens.expect('distinct');
    this.tokens.expect('from');
    const right = this.#sum();
    return (scope) => isDistinct(left(scope), right(scope)) !== isNegated;
  }

  #sum(): Expression {
    let left = this.#product();
    for (let sign = this.tokens.takesOne('+', '-'); sign; sign = this.tokens.takesOne('+', '-')) {
      left = arithmetic(sign, left, this.#product());
    }
    return left;
  }

  #product(): Expression {
    let left = this.#cast();
    for (let sign = this.tokens.takesOne('*', '/'); sign; sign = this.tokens.takesOne('*', '/')) {
      left = arithmetic(sign, left, this.#cast());
    }
    return left;
  }

  #cast(): Expression {
    let value = this.#primary();
    while (this.tokens.takes('::')) {
      let type = this.tokens.name();
      if (this.tokens.takes('[')) {
        this.tokens.expect(']');
        type += '[]';
      }
      const before = value;
      value = (scope) => converted(before(scope), type);
    }
    return value;
  }

  #primary(): Expression {
    const token = this.tokens.next();
    const { kind, text } = token;
    if (kind === 'text') return () => text;
    if (kind === 'number') return () => Number(text);
    if (kind === 'parameter') return (scope) => scope.run.parameters[Number(text) - 1] ?? null;
    if (text === '(') return this.#parenthesized();
    if (kind === 'sign') throw this.tokens.unknown(-1);
    if (kind === 'word') {
      if (text === 'null') return () => null;
      if (text === 'true' || text === 'false') return () => text === 'true';
      if (text === 'case') return this.#case();
      if (text === 'interval') return constant(intervalMs(this.tokens.next().text));
      if (text === 'exists') {
        this.tokens.expect('(');
        this.tokens.expect('select');
        const query = this.select();
        this.tokens.expect(')');
        return (scope) => selectNow(query, scope).length > 0;
      }
      if (this.tokens.isAt('(')) return this.#call(text);
    }
    if (!this.tokens.takes('.')) return (scope) => columnOf(scope, null, text);
    const name = this.tokens.name();
    return (scope) => columnOf(scope, text, name);
  }

  /** After `(`. */
  #parenthesized(): Expression {
    if (!this.tokens.takes('select')) {
      const value = this.expression();
      this.tokens.expect(')');
      return value;
    }
    const query = this.select();
    this.tokens.expect(')');
    return (scope) => {
      const [row] = selectNow(query, scope);
      return row ? (Object.values(row)[0] ?? null) : null;
    };
  }

  #call(name: string): Expression {
    const args = this.inParentheses(() => (this.tokens.isAt(')') ? [] : this.list(() => this.expression())));
    const aggregate = AGGREGATES[name];
    const [first] = args;
    if (aggregate && first) {
      this.hasAggregate = true;
      return (scope) => aggregate((scope.group ?? []).map(first));
    }
    if (name === 'pg_advisory_xact_lock' && first) {
      this.advisoryLock = first;
      return () => '';
    }
    const call = FUNCTIONS[name];
    if (!call) throw this.tokens.unknown(-1);
    return (scope) =>
      call(
        args.map((arg) => arg(scope)),
        scope.run,
      );
  }

  /** After `CASE`. */
  #case(): Expression {
    const branches: { when: Expression; value: Expression }[] = [];
    while (this.tokens.takes('when')) {
      const when = this.expression();
      this.tokens.expect('then');
      branches.push({ when, value: this.expression() });
    }
    const otherwise = this.tokens.takes('else') ? this.expression() : () => null;
    this.tokens.expect('end');
    return (scope) => (branches.find(({ when }) => when(scope) === true)?.value ?? otherwise)(scope);
  }

  protected list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.tokens.takes(',')) items.push(item());
    return items;
  }

  protected inParentheses<T>(content: () => T): T {
    this.tokens.expect('(');
    const found = content();
    this.tokens.expect(')');
    return found;
  }
}

const constant = (value: unknown): Expression => (() => value) as Expression;
