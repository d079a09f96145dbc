/** One invalid field of a request. */
export type FailureDetail = { path: string; message: string; code?: string };

/** The API's error object. */
export type ApiError = { code: string; message: string; details?: FailureDetail[]; request_id?: string };

/** An error response, with the API's message. Status 0: no response. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: FailureDetail[];
  /** The request's ID in the API's log, for support. */
  readonly requestId: string | null;

  constructor(status: number, given: ApiError) {
    super(given.message);
    this.name = 'ApiFailure';
    this.status = status;
    this.code = given.code;
    this.details = given.details ?? [];
    this.requestId = given.request_id ?? null;
  }
}

/** Whether a retry may succeed: no response, or one of a busy or stopping server. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Whether the session has ended. The sign-in follows, unless another window has signed in. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401;

/** The message to show. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiFailure && error.status === 0) return 'The server does not respond. Try again.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

/** The message for one field of a form (`path` as the API names it), or null. */
export const fieldError = (error: unknown, path: string): string | null =>
  fieldDetail(error, path)?.message ?? null;

/** What the API says about one field of a form, or null. */
export function fieldDetail(error: unknown, path: string): FailureDetail | null {
  if (!(error instanceof ApiFailure)) return null;
  return error.details.find((detail) => detail.path === path) ?? null;
}
