/**
 * The name of a header, in lower case, as `getHeader` takes it. As bytes, because a string is measured, encoded into memory
 * of its own and freed again at each call, which costs as much as the rest of it.
 */
export function headerName(name: string): ArrayBuffer {
  return new TextEncoder().encode(name).buffer;
}
