// Browsers run this file too.
/** A token of JSON with the blanks before it. */
const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w))/y;

/** What may come next. `end`: nothing. */
type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | 'separator' | 'end';

/**
 * Returns where a text stops being JSON, as line and column from 1. The errors of `JSON.parse` quote the text, which
 * may hold a password.
 */
export function faultIn(text: string): { line: number; column: number } {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const found: RegExpExecArray | null = TOKEN.exec(text);
    if (found === null) return placeIn(text, at);
    const [token, mark, string] = found;
    const next = follow(expected, mark ?? (string === undefined ? 'number' : 'string'), open);
    if (next === null) return placeIn(text, at);
    expected = next;
    at += token.length;
  }
}

/** Returns what may follow a token, and keeps track of what is open; null: the token is wrong here. */
function follow(expected: Expected, token: string, open: string[]): Expected | null {
  const afterValue = () => (open.length === 0 ? 'end' : 'separator');
  if (token === '}' || token === ']') {
    const own = token === '}' ? '{' : '[';
    if (open.at(-1) !== own || (expected !== 'separator' && !expected.endsWith(`or ${token}`))) return null;
    open.pop();
    return afterValue();
  }
  if (expected === ':') return token === ':' ? 'value' : null;
  if (expected === 'separator') {
    if (token !== ',') return null;
    return open.at(-1) === '{' ? 'name' : 'value';
  }
  if (expected.startsWith('name')) return token === 'string' ? ':' : null;
  if (expected === 'end' || token === ',' || token === ':') return null;
  if (token !== '{' && token !== '[') return afterValue();
  open.push(token);
  return token === '{' ? 'name or }' : 'value or ]';
}

function placeIn(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at) + (/^[ \t\r\n]*/.exec(text.slice(at))?.[0] ?? '');
  const lines = before.split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
