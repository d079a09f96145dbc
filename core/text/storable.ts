// Browsers run this file too.
/** Limit of nesting in all input; recursive code is safe below it. */
export const MAX_DEPTH = 64;
export const TOO_DEEP = `must not nest deeper than ${MAX_DEPTH} levels`;

/**
 * Characters that PostgreSQL can't store in a text: NUL, and halves of surrogate pairs, which are neither UTF-8 nor
 * valid in its JSON. This list serves every input: bodies, queries and paths, reports of pages, events of providers and
 * of the log, imported files. Matches unpaired surrogates because of `u`.
 */
const UNSTORABLE = /[\0\p{Surrogate}]/gu;
/** Only browsers without `isWellFormed` use it, which is much slower. */
const HALF_PAIR = /\p{Surrogate}/u;

/** The part of a value that can't be stored, and where: names joined by dots, empty for the value itself. */
export type Unstorable = { path: string; message: string };

/**
 * Returns the part of a parsed value that can't be stored as it was sent: NUL (PostgreSQL has no such character),
 * half a surrogate pair, a number beyond a double's range, or deep nesting. Null: all can be stored.
 *
 * It does not recurse, since it must accept any input, and it removes `__proto__` keys.
 *
 * @param removed gets the objects that had one
 */
export function unstorableIn(root: unknown, removed?: WeakSet<object>): Unstorable | null {
  const pending: { path: string; value: unknown; depth: number }[] = [{ path: '', value: root, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { path, value, depth } = next;
    if (typeof value === 'string') {
      const message = unstorableText(value);
      if (message !== null) return { path, message };
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) return { path, message: 'must be a finite number' };
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= MAX_DEPTH) return { path: '', message: TOO_DEEP };
      if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) {
        Reflect.deleteProperty(value, '__proto__');
        removed?.add(value);
      }
      for (const [key, child] of Object.entries(value)) {
        const message = Array.isArray(value) ? null : unstorableText(key);
        if (message !== null) return { path, message };
        pending.push({ path: path ? `${path}.${key}` : key, value: child, depth: depth + 1 });
      }
    }
  }
  return null;
}

/** Returns a text without the characters that can't be stored. */
export function storableText(text: string): string {
  return unstorableText(text) === null ? text : text.replaceAll(UNSTORABLE, '');
}

/** Returns why a text can't be stored, or null: it can. */
export function unstorableText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character';
  // Browser code is compiled without the method's type.
  const known = text as { isWellFormed?: () => boolean };
  const isWellFormed = known.isWellFormed?.() ?? !HALF_PAIR.test(text);
  return isWellFormed ? null : 'must be well-formed Unicode';
}
