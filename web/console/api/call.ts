import { type ApiError, ApiFailure, fieldError } from './failures.ts';

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

/** For whom the page calls: as `GET /session` told it last. */
export type Caller = {
  /** The member in the workspace. */
  owner: string;
  /** What changing calls carry. Every session has another one. */
  csrfToken: string;
};

/** What carries the token of a changing call; the API names it where it refuses one. */
const CSRF_HEADER = 'x-csrf-token';

let caller: Caller | null = null;
let askForSession = async (): Promise<void> => {};

/** Notes for whom calls are made from now on; null: nobody is signed in. */
export function keepCaller(next: Caller | null): void {
  caller = next;
}

/** What an answer that contradicts the {@link Caller} makes the page do: ask who is signed in, and keep that. */
export function onSessionInDoubt(ask: () => Promise<void>): void {
  askForSession = ask;
}

/**
 * Calls the API with the browser's session.
 *
 * @param path below `/api/v1`, such as `/links`
 * @returns the parsed body; undefined where there is none
 * @throws {ApiFailure} for every answer that is no success, and when there is none
 */
export async function callApi<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await fetchAnswer(path, options);
  const text = await response.text();
  return (isJson(response) && text !== '' ? JSON.parse(text) : undefined) as T;
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
 * The same for answers whose headers say something too. Every call of the console comes through here, so this is where
 * it is noticed that the browser's session has ended, or is another one than the page knows.
 *
 * @throws {ApiFailure} as {@link callApi}
 */
export async function fetchAnswer(path: string, options: CallOptions = {}): Promise<Response> {
  const sentFor = caller;
  const response = await answerOf(path, options);
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (!sentFor) throw failure;
  const isEnded = failure.status === 401 && isOfSession(path, options);
  const isAnother = fieldError(failure, CSRF_HEADER) !== null;
  if (!isEnded && !isAnother) throw failure;
  const asked = caller?.csrfToken === sentFor.csrfToken ? askForSession() : null;
  if (isEnded) throw worded(failure, 'Your session has ended. Sign in and try again.');
  await asked;
  // Signed in anew in another window: where it is the same member, the change is still meant.
  if (caller?.owner === sentFor.owner && caller.csrfToken !== sentFor.csrfToken) {
    return fetchAnswer(path, options);
  }
  throw worded(failure, 'Nothing was changed: you signed in again in another window.');
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
        ...(method !== 'GET' && { [CSRF_HEADER]: caller?.csrfToken ?? '' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFailure(0, { code: 'no_answer', message: 'the server does not respond' });
  }
}

const isJson = (response: Response) => response.headers.get('content-type')?.includes('json') === true;

/** Whether a 401 speaks of the session. That of an invitation speaks of its link, and `GET /session` is the question. */
const isOfSession = (path: string, { method = 'GET' }: CallOptions) =>
  !path.startsWith('/session/invite') && !(path === '/session' && method === 'GET');

async function failureOf(response: Response): Promise<ApiFailure> {
  const { status } = response;
  const text = isJson(response) ? await response.text() : '';
  const body = text === '' ? undefined : (JSON.parse(text) as { error?: Partial<ApiError> });
  const error = body?.error;
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    return new ApiFailure(status, { ...error, code: error.code, message: error.message });
  }
  return new ApiFailure(status, { code: 'unknown', message: `the server answered ${status}` });
}

/** The same in other words: the API's are for programs with keys. */
const worded = ({ status, code, requestId }: ApiFailure, message: string) =>
  new ApiFailure(status, { code, message, ...(requestId !== null && { request_id: requestId }) });
