import type { Json } from './components.ts';

type Sampled = {
  path: string;
  method: string;
  parameters?: { name: string; in: string; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  security?: unknown;
};

/** The key in an example, by the security scheme. */
const CREDENTIALS: Record<string, string[]> = {
  secret: ['Authorization: Bearer $HOPLOG_SECRET_KEY'],
  publishable: ['Authorization: Bearer $HOPLOG_PUBLISHABLE_KEY'],
  partner: ['Authorization: Bearer $HOPLOG_PARTNER_KEY'],
  session: ['Cookie: $HOPLOG_SESSION', 'x-csrf-token: $HOPLOG_CSRF_TOKEN'],
};

/** Returns a request as a call of curl. */
export function curlOf(
  baseUrl: string,
  { path, method, parameters = [], requestBody, security }: Sampled,
): string {
  const of = (place: string) =>
    parameters.filter((parameter) => parameter.in === place && parameter.example !== undefined);
  const filled = of('path').reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  );
  const query = of('query')
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join('&');
  const [first] = Array.isArray(security) ? (security as Json[]) : [];
  const headers = CREDENTIALS[Object.keys(first ?? {})[0] ?? ''] ?? [];
  const body = requestBody?.content['application/json']?.example;
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${baseUrl}${filled}${query && `?${query}`}"`,
    ...headers.map((header) => `-H "${header}"`),
    ...(body === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ].join(' \\\n  ');
}
