import { databaseFault, isConfigurationKind } from '../../core/databases/faults.ts';
import { AppError } from '../../core/errors.ts';

/** `Retry-After` of a fault that an operator must correct, in seconds. */
const CORRECTED_IN = 10;

/** Messages for errors that the same request would get again, by ClickHouse's code, with advice. */
const TOO_LARGE: Readonly<Record<string, string>> = {
  241: 'ClickHouse has too little memory for this request; try again, or choose a shorter window',
};
const TOO_SLOW =
  'the request needs more time than ClickHouse may take; try again, or choose a shorter window';

/** Whether a database can't serve now, for operations that continue without it. */
export const isUnavailable = (error: unknown): boolean => databaseError(error)?.code === 'unavailable';

/**
 * Converts a database error to the API's error: 503 when the database is down, restarting, overloaded, or not
 * configured correctly, 400 when it refused a value. Returns null for any other error, which is a bug of ours.
 */
export function databaseError(error: unknown): AppError | null {
  const fault = databaseFault(error);
  if (fault === null) return null;
  const { kind, code } = fault;
  const options = { cause: error };
  if (kind === 'value') {
    return new AppError('bad_request', 'a value in the request cannot be stored', undefined, options);
  }
  if (isConfigurationKind(kind)) {
    return new AppError(
      'unavailable',
      'the service is not configured correctly; its operator finds the reason in its log. Try again later',
      undefined,
      { ...options, retryAfter: CORRECTED_IN },
    );
  }
  const message =
    kind === 'too_large'
      ? (TOO_LARGE[code] ?? TOO_SLOW)
      : 'the database is temporarily unavailable; try again';
  return new AppError('unavailable', message, undefined, options);
}
