// Browsers run this file too.
import { RowProblem } from './source-row.ts';

const TWICE = 'the object has this key twice: leave one of them';

/**
 * Returns the problem of the first key that an object of a JSON text has twice, named with the names around it; null:
 * there is none. `JSON.parse` keeps the last value without a word.
 *
 * @param value the text, parsed
 */
export function repetitionIn(text: string, value: unknown): RowProblem | null {
  // A string may look like a key: only then the text is walked.
  if ((text.match(/"[ \t\r\n]*:/g)?.length ?? 0) <= countKeys(value)) return null;
  const name = firstRepeated(text);
  return name === null ? null : new RowProblem(name, TWICE);
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce((sum: number, one) => sum + countKeys(one), Array.isArray(value) ? 0 : inner.length);
}

const STRING = /"(?:[^"\\]|\\.)*"/y;

/** @param text valid JSON */
function firstRepeated(text: string): string | null {
  /** The open objects and lists: the path of each, its keys, and the key of the present value. */
  const open: { path: string; keys: Set<string> | null; name: string }[] = [];
  const pathOf = (name: string) => {
    const path = open.at(-1)?.path ?? '';
    return path === '' ? name : `${path}.${name}`;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    const inner = open.at(-1);
    if (character === '{' || character === '[') {
      const path = inner === undefined ? '' : pathOf(inner.name);
      open.push({ path, keys: character === '{' ? new Set() : null, name: character === '{' ? '' : '0' });
    } else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      STRING.lastIndex = at;
      const [string = '"'] = STRING.exec(text) ?? [];
      at += string.length - 1;
      if (inner?.keys && /^[ \t\r\n]*:/.test(text.slice(at + 1, at + 100))) {
        inner.name = JSON.parse(string) as string;
        if (inner.keys.has(inner.name)) return pathOf(inner.name);
        inner.keys.add(inner.name);
      }
    }
  }
  return null;
}
