export type Token = { kind: 'word' | 'quoted' | 'text' | 'number' | 'parameter' | 'sign'; text: string };

const TOKEN =
  /\s+|--[^\n]*|'((?:[^']|'')*)'|"([^"]*)"|\$(\d+)|(\d+(?:\.\d+)?)|([a-z_][a-z0-9_]*)|(::|<>|<=|>=|[-+*/=<>(),.;[\]])/giy;

function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < sql.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(sql);
    if (!found) throw new Error(`cannot parse ${JSON.stringify(sql.slice(at, at + 40))}`);
    const [, text, quoted, parameter, number, word, sign] = found;
    if (text !== undefined) tokens.push({ kind: 'text', text: text.replaceAll("''", "'") });
    else if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted });
    else if (parameter !== undefined) tokens.push({ kind: 'parameter', text: parameter });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase() });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
  }
  return tokens;
}

/** Reads a statement token by token. */
export class Tokens {
  readonly #sql: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(sql: string) {
    this.#sql = sql;
    this.#tokens = tokensOf(sql);
  }

  get hasEnded(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** The token that was read last. */
  get last(): Token | undefined {
    return this.#tokens[this.#at - 1];
  }

  isAt(text: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.text === text && (token.kind === 'word' || token.kind === 'sign');
  }

  takes(text: string): boolean {
    if (!this.isAt(text)) return false;
    this.#at += 1;
    return true;
  }

  takesOne(...texts: string[]): string | null {
    return texts.find((text) => this.takes(text)) ?? null;
  }

  expect(text: string): void {
    if (!this.takes(text)) throw this.unknown();
  }

  name(): string {
    const token = this.next();
    if (token.kind !== 'word' && token.kind !== 'quoted') throw this.unknown(-1);
    return token.text;
  }

  next(): Token {
    const token = this.#tokens[this.#at];
    if (!token) throw this.unknown();
    this.#at += 1;
    return token;
  }

  /** @param offset of the token that is not known, from the next one */
  unknown(offset = 0): Error {
    const { text = 'its end' } = this.#tokens[this.#at + offset] ?? {};
    return new Error(`the simulator does not know the SQL at ${JSON.stringify(text)} of: ${this.#sql}`);
  }
}
