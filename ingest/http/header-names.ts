/**
 * Returns a header's name, in lower case, as bytes for `getHeader`: a string is encoded and freed again at each call.
 */
export function headerName(name: string): ArrayBuffer {
  return new TextEncoder().encode(name).buffer;
}
