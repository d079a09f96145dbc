import { errorOf, HoplogError } from './errors.ts';
import type { Operation, RequestOptions } from './operation.ts';
import { mayRepeat, pause, pauseOf } from './retry.ts';

/** The settings of a client. */
export type Settings = {
  key: string;
  /** With `/api/v1`. */
  apiUrl: string;
  fetch: typeof fetch;
  timeoutMs: number;
  retries: number;
};

/** The arguments of a call. */
export type Call = { path?: readonly string[]; query?: Record<string, unknown>; body?: unknown };

/** Makes a call, with its retries. Returns the JSON of the response, or the response itself. */
export type Transport = (operation: Operation, call: Call, options?: RequestOptions) => Promise<unknown>;

/** Returns what makes the calls of a client. */
export function createTransport(settings: Settings): Transport {
  return async (operation, call, options = {}) => {
    const url = urlOf(settings, operation, call);
    const headers = headersOf(settings, operation, call, options);
    // A redirect would make a GET of a create. Workers of Cloudflare know no `error`.
    const request: RequestInit = { method: operation.method, headers, redirect: 'manual' };
    if (call.body !== undefined) {
      request.body = operation.body === 'json' ? JSON.stringify(call.body) : (call.body as string | Blob);
    }
    const retries = options.retries ?? settings.retries;
    for (let attempt = 0; ; attempt++) {
      try {
        return await attemptOnce(settings, operation, url, request, options);
      } catch (error) {
        if (attempt >= retries || !mayRepeat(operation, error)) throw error;
        await pause(pauseOf(attempt, (error as HoplogError).retryAfter), options.signal);
      }
    }
  };
}

/** The time limit ends with the body, because a connection may break off in the middle of it. */
async function attemptOnce(
  settings: Settings,
  operation: Operation,
  url: string,
  request: RequestInit,
  { signal, timeoutMs = settings.timeoutMs }: RequestOptions,
): Promise<unknown> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const abort = () => ended.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ended.abort();
  }, timeoutMs);
  // The body of a stream is still to be read, so the signal stays with it.
  let isStream = false;
  try {
    const response = await settings.fetch(url, { ...request, signal: ended.signal });
    if (!response.ok) throw errorOf(response, await response.text());
    if (operation.result === 'response') {
      isStream = true;
      return response;
    }
    return jsonOf(response, await response.text());
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof HoplogError) throw error;
    const said = reasonOf(error);
    const message = isLate
      ? `no response from ${url} within ${timeoutMs} ms`
      : `no response from ${url}: ${said}`;
    throw new HoplogError({ status: 0, code: isLate ? 'timeout' : 'network', message }, { cause: error });
  } finally {
    clearTimeout(timer);
    if (!isStream) signal?.removeEventListener('abort', abort);
  }
}

/** What `fetch` throws often has its reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, code } = (error.cause ?? {}) as { message?: string; code?: string };
  return [error.message, message || code].filter(Boolean).join(': ');
}

function jsonOf(response: Response, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw errorOf(response, text);
  }
}

function urlOf({ apiUrl }: Settings, { path, fixed }: Operation, call: Call): string {
  const values = [...(call.path ?? [])];
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.shift();
    if (typeof value !== 'string' || value === '')
      throw new TypeError(`\`${name}\` must be a text that is not empty`);
    return encodeURIComponent(value);
  });
  const url = new URL(apiUrl + filled);
  for (const [name, value] of Object.entries({ ...call.query, ...fixed })) {
    if (value !== undefined && value !== null) url.searchParams.set(name, textOf(value));
  }
  return url.href;
}

/** A comma within a value of a list is escaped, as the API's filters say. */
const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.map((one) => String(one).replaceAll(',', '\\,')).join(',') : String(value);

function headersOf({ key }: Settings, operation: Operation, { body }: Call, options: RequestOptions) {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (body !== undefined) headers['content-type'] = mediaTypeOf(operation, body);
  // One key for all attempts of a call: a create whose response was lost is made once.
  if (operation.idempotent) headers['idempotency-key'] = options.idempotencyKey ?? randomKey();
  return headers;
}

/** Rows of clicks are CSV, or NDJSON, whose lines begin with a brace. */
function mediaTypeOf({ body: kind }: Operation, body: unknown): string {
  if (kind === 'json') return 'application/json';
  if (kind === 'bytes') return 'application/octet-stream';
  return typeof body === 'string' && /^\s*\{/.test(body) ? 'application/x-ndjson' : 'text/csv';
}

/** `crypto.randomUUID` is missing in pages without TLS. */
const randomKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
