import { ApiFailure } from './failures.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';

/** What goes into a query string; null and undefined are left out. */
export type Query = Record<string, string | number | boolean | null | undefined>;

export type CallOptions = {
  method?: Method;
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

let csrfToken = '';

/** Notes the token that changing calls carry; `GET /session` tells it. */
export function keepCsrfToken(token: string): void {
  csrfToken = token;
}

/**
 * Calls the API with the browser's session.
 *
 * @param path below `/api/v1`, such as `/links`
 * @returns the parsed body; undefined where there is none
 * @throws {ApiFailure} for every answer that is no success, and when there is none
 */
export async function callApi<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await answerOf(path, options);
  const text = await response.text();
  const body: unknown = isJson(response) && text !== '' ? JSON.parse(text) : undefined;
  if (response.ok) return body as T;
  throw failureOf(response.status, body);
}

/**
 * The same for answers that are files.
 *
 * @throws {ApiFailure} as {@link callApi}
 */
export async function fetchFile(path: string, options: CallOptions = {}): Promise<Blob> {
  return (await fetchAnswer(path, options)).blob();
}

/**
 * The same for answers whose headers say something too.
 *
 * @throws {ApiFailure} as {@link callApi}
 */
export async function fetchAnswer(path: string, options: CallOptions = {}): Promise<Response> {
  const response = await answerOf(path, options);
  if (response.ok) return response;
  throw failureOf(response.status, isJson(response) ? await response.json() : undefined);
}

/** `/api/v1` and the path with its query. */
export function apiUrl(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `/api/v1${path}${text === '' ? '' : `${path.includes('?') ? '&' : '?'}${text}`}`;
}

async function answerOf(path: string, options: CallOptions): Promise<Response> {
  const { method = 'GET', query, body, headers, signal } = options;
  try {
    return await fetch(apiUrl(path, query), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method !== 'GET' && { 'x-csrf-token': csrfToken }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFailure(0, { code: 'no_answer', message: 'the server does not answer' });
  }
}

const isJson = (response: Response) => response.headers.get('content-type')?.includes('json') === true;

function failureOf(status: number, body: unknown): ApiFailure {
  const error = (body as { error?: { code?: string; message?: string } } | undefined)?.error;
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    return new ApiFailure(status, { ...error, code: error.code, message: error.message });
  }
  return new ApiFailure(status, { code: 'unknown', message: `the server answered ${status}` });
}
