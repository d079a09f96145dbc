import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../core/errors.ts';

/** Overload is logged no more often: it comes by the thousand, when there is the least time for it. Milliseconds. */
const OVERLOAD_EVERY = 1_000;

/** Logs what an answer's cause was, when it was no fault of the caller's. */
export type FaultLog = (answer: AppError, cause: unknown, request: FastifyRequest) => void;

/**
 * Failures and stores that are down go to the log one by one, with their causes. What a limit of ours refused has none:
 * it is one line for all of a second (`hoplog_api_request_seconds` counts each), the first at once.
 */
export function createFaultLog(): FaultLog {
  let refused = 0;
  let nextAt = 0;
  return (answer, cause, request) => {
    if (answer.code === 'internal') request.log.error({ err: cause }, 'request failed');
    if (answer.code !== 'unavailable') return;
    if (answer.cause !== undefined) {
      request.log.warn({ err: answer.cause }, 'request refused: unavailable');
      return;
    }
    refused += 1;
    const now = performance.now();
    if (now < nextAt) return;
    request.log.warn({ why: answer.message, refused }, 'requests refused: unavailable');
    refused = 0;
    nextAt = now + OVERLOAD_EVERY;
  };
}
