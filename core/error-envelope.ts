import type { AppError, ErrorDetail } from './errors.ts';
import { FAULTS_LIMIT } from './faults.ts';
import type { Config } from './settings/config.ts';

/** The body of every error response, of the API and of `/collect`. */
export type ErrorEnvelope = {
  error: { code: string; message: string; request_id: string; doc_url: string; details?: ErrorDetail[] };
};

/** Path of the documentation's page on errors, with a page for each code below. */
const ERROR_PAGE = '/docs/errors';

/** Returns the address of the help on errors, which the API's host has. */
export const errorPageOf = ({ baseUrl }: Pick<Config, 'baseUrl'>): string => `${baseUrl}${ERROR_PAGE}`;

/**
 * Returns the body of an error response.
 *
 * @param errorPage of {@link errorPageOf}
 */
export function errorEnvelope(
  { code, message, details }: Pick<AppError, 'code' | 'message' | 'details'>,
  requestId: string,
  errorPage: string,
): ErrorEnvelope {
  return {
    error: {
      code,
      message,
      request_id: requestId,
      doc_url: `${errorPage}/${code}`,
      ...(details && { details: details.slice(0, FAULTS_LIMIT) }),
    },
  };
}
