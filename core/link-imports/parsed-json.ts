/** Nothing that a create takes nests this deep; what reads a row further on does so by recursion. */
const MAX_DEPTH = 64;

/**
 * Parses JSON that stands in a file of somebody else.
 *
 * @throws {SyntaxError} when it is none; {RangeError} when it nests deeper than {@link MAX_DEPTH} levels
 */
export function parsedJson(text: string): unknown {
  const root: unknown = JSON.parse(text);
  const pending = [{ value: root, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) throw new RangeError(`it nests deeper than ${MAX_DEPTH} levels`);
    for (const child of Object.values(value)) pending.push({ value: child, depth: depth + 1 });
  }
  return root;
}
