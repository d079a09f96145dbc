import { type ApiError, ApiFailure, fieldError } from './failures.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';

/** Query parameters; null and undefined are omitted. */
export type Query = Record<string, string | number | boolean | null | undefined>;

export type CallOptions = {
  method?: Method;
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  file?: Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sends the request instead of `fetch`. */
  send?: (url: string, request: RequestInit) => Promise<Response>;
};

/** The signed-in member, as of the last `GET /session`. */
export type Caller = {
  /** The member in the workspace. */
  owner: string;
  /** Sent with every change; unique per session. */
  csrfToken: string;
};

/** Header with the CSRF token of a change; named in the API's error when the token is refused. */
const CSRF_HEADER = 'x-csrf-token';

let caller: Caller | null = null;
let askForSession = async (): Promise<void> => {};
let askToConfirm = async (): Promise<boolean> => false;

/** Sets the caller of future requests; null: signed out. */
export function keepCaller(next: Caller | null): void {
  caller = next;
}

/** Registers how to refresh the session after a response that contradicts the {@link Caller}. */
export function onSessionInDoubt(ask: () => Promise<void>): void {
  askForSession = ask;
}

/** Registers how the member confirms to be at the browser. @param ask returns whether they did */
export function onConfirmationRequired(ask: () => Promise<boolean>): void {
  askToConfirm = ask;
}

/**
 * Calls the API with the browser's session.
 *
 * @param path below `/api/v1`, such as `/links`
 * @returns the parsed body; undefined where there is none
 * @throws {ApiFailure} for every error response, and without a response
 */
export async function callApi<T>(path: string, options: CallOptions = {}): Promise<T> {
  const response = await fetchAnswer(path, options);
  const text = await response.text();
  return (isJson(response) && text !== '' ? JSON.parse(text) : undefined) as T;
}

/**
 * Like {@link callApi}, for responses that are files.
 *
 * @throws {ApiFailure} as {@link callApi}
 */
export async function fetchFile(path: string, options: CallOptions = {}): Promise<Blob> {
  return (await fetchAnswer(path, options)).blob();
}

/**
 * Like {@link callApi}, but returns the whole response. Every request of the console passes here, so this is where an
 * ended or replaced session is detected, and where the member confirms a change of access.
 *
 * @throws {ApiFailure} as {@link callApi}
 */
export async function fetchAnswer(path: string, options: CallOptions = {}): Promise<Response> {
  const sentFor = caller;
  const response = await answerOf(path, options);
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (!sentFor) throw failure;
  if (failure.details.some(({ code }) => code === 'confirmation_required')) {
    if (await askToConfirm()) return fetchAnswer(path, options);
    throw worded(failure, 'Nothing was changed, because you did not confirm that it is you.');
  }
  const isEnded = failure.status === 401 && isOfSession(path, options);
  const isAnother = fieldError(failure, CSRF_HEADER) !== null;
  if (!isEnded && !isAnother) throw failure;
  const asked = caller?.csrfToken === sentFor.csrfToken ? askForSession() : null;
  if (isEnded) throw worded(failure, 'Your session has ended. Sign in and try again.');
  await asked;
  // The member signed in again in another window: the change is still valid.
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
  const { method = 'GET', query, body, file, headers, signal, send = fetch } = options;
  try {
    return await send(apiUrl(path, query), {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(file && { 'content-type': 'text/plain' }),
        ...(method !== 'GET' && { [CSRF_HEADER]: caller?.csrfToken ?? '' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(file && { body: file }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFailure(0, { code: 'no_answer', message: 'the server does not respond' });
  }
}

const isJson = (response: Response) => response.headers.get('content-type')?.includes('json') === true;

/**
 * Whether a 401 means that the session ended. For an invitation it concerns the invitation's link; `GET /session` is
 * the check itself.
 */
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
  return new ApiFailure(status, { code: 'unknown', message: `the server returned ${status}` });
}

/** Replaces the message: the API's own is written for clients with keys. */
const worded = ({ status, code, requestId }: ApiFailure, message: string) =>
  new ApiFailure(status, { code, message, ...(requestId !== null && { request_id: requestId }) });
