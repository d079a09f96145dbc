// Browsers run this file too.
/** Rules that a client handles by code, not by message. */
export const DETAIL_CODES = ['external_destination', 'confirmation_required'] as const;

/** One invalid part of a request: where it is and what is wrong with it. */
export type ErrorDetail = {
  path: string;
  /** What the field must be, worded as a predicate: `must be a UUID`. */
  message: string;
  code?: (typeof DETAIL_CODES)[number];
  /** Another way for an API client to satisfy the rule. */
  hint?: string;
};

/** The closed set of error codes of the API, each with its HTTP status. */
export const ERROR_STATUS = {
  bad_request: 400,
  method_not_offered: 400,
  unauthorized: 401,
  payment_required: 402,
  limit_reached: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  too_many_requests: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/**
 * An error for the client of a tier. Its message contains the wrong value. The tier's edge turns it into `{ error: {
 * code, message, request_id, details? } }`.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  /** Seconds after which the same call may be repeated, where that is known. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details?: ErrorDetail[],
    options: ErrorOptions & { retryAfter?: number } = {},
  ) {
    super(message, options);
    this.name = 'AppError';
    this.code = code;
    this.details = details;
    this.retryAfter = options.retryAfter;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The message for calls of a workspace that the operator has suspended. */
export const SUSPENDED = 'this workspace is suspended; contact the operator of this deployment';

/** Returns a 400 that names the field (`path`, dotted). @param message what the field must be, as a predicate */
export function badRequest(
  path: string,
  message: string,
  more: Pick<ErrorDetail, 'code' | 'hint'> = {},
): AppError {
  const text = more.hint === undefined ? message : `${message}; ${more.hint}`;
  return new AppError('bad_request', `\`${path}\` ${text}`, [{ path, message, ...more }]);
}

/**
 * Runs a check of an object that is a field of the request. Errors name the path that the caller sent: `set.slug`.
 *
 * @param field where the object is in the request
 */
export async function checkedWithin<T>(field: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    throw errorWithin(field, error);
  }
}

/** As {@link checkedWithin}, for a check that waits for nothing. */
export function checkWithin<T>(field: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw errorWithin(field, error);
  }
}

function errorWithin(field: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.details === undefined) return error;
  let { message } = error;
  const details = error.details.map((detail) => {
    message = message.replaceAll(`\`${detail.path}\``, `\`${field}.${detail.path}\``);
    return { ...detail, path: `${field}.${detail.path}` };
  });
  return new AppError(error.code, message, details, { cause: error });
}
