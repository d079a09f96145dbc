/** Returns a proxy's address without its port: some write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
export function withoutPort(text: string): string {
  if (text.startsWith('[')) return text.slice(1, text.indexOf(']'));
  const colon = text.indexOf(':');
  return colon > 0 && text.indexOf(':', colon + 1) < 0 ? text.slice(0, colon) : text;
}
