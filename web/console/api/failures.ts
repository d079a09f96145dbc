/** One wrong field of what was sent. */
export type FailureDetail = { path: string; message: string };

/** What the API says of an error. */
export type ApiError = { code: string; message: string; details?: FailureDetail[]; request_id?: string };

/** An answer that is no success, in the API's own words. Status 0: there was no answer. */
export class ApiFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: FailureDetail[];
  /** For support: the id under which the API's log has it. */
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

/** Whether the same call may succeed in a moment: no answer, or one that a busy or stopping server gives. */
export function isRetryable(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** Whether the session has ended: the sign-in follows, unless another window has signed in meanwhile. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiFailure && error.status === 401;

/** What a person is told. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiFailure && error.status === 0) return 'The server does not respond. Try again.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

/** The message for one field of a form (`path` as the API names it), or null. */
export function fieldError(error: unknown, path: string): string | null {
  if (!(error instanceof ApiFailure)) return null;
  return error.details.find((detail) => detail.path === path)?.message ?? null;
}
