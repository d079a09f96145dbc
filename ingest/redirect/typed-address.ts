/** Characters that texts, chats, and mailers append to an address: blanks, invisible characters, and punctuation. */
const TAIL = /[\s\p{Cf}\p{Pe}\p{Pf}\p{Pi}.,;:!?>"'…/。，、；：！？]/u;
/** A query that was written after an address without its `?`, or with an escaped one. */
const QUERY = /[&?]/;

/**
 * Returns a text without what people and programs leave behind an address: `menu.`, `menu)`, `menu&x=1`, each also
 * escaped. `-` and `_` stay: slugs end with them.
 */
export function withoutTail(text: string): string {
  const query = text.search(QUERY);
  // From the end: a pattern for the whole tail would take quadratic time.
  let end = query < 0 ? text.length : query;
  while (end > 0 && TAIL.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Returns whether all of a path, as sent, is what {@link withoutTail} leaves out. */
export function isTail(path: string): boolean {
  try {
    return withoutTail(decodeURIComponent(path)) === '';
  } catch {
    return false;
  }
}
