import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import { createFaultNotice } from '../../core/databases/fault-notice.ts';
import type { AppError } from '../../core/errors.ts';

/** Minimum interval between two log lines about overload. Milliseconds. */
const OVERLOAD_EVERY = 1_000;

/** Logs the cause of an error response that is not the client's fault. */
export type FaultLog = (answer: AppError, cause: unknown, request: FastifyRequest) => void;

/**
 * Logs internal errors and database failures one by one with their causes, but a wrong setting once a minute. Refusals
 * by our own limits have no cause. One line covers all of them in a second (`hoplog_api_request_seconds` counts each),
 * the first at once.
 *
 * @param log of the process, for messages that do not belong to one request
 */
export function createFaultLog(log: FastifyBaseLogger): FaultLog {
  const noteFault = createFaultNotice(log);
  let refused = 0;
  let nextAt = 0;
  return (answer, cause, request) => {
    if (answer.code === 'internal') request.log.error({ err: cause }, 'request failed');
    if (answer.code !== 'unavailable') return;
    if (answer.cause !== undefined) {
      if (noteFault(answer.cause)) return;
      request.log.warn({ err: answer.cause }, 'refused a request: unavailable');
      return;
    }
    refused += 1;
    const now = performance.now();
    if (now < nextAt) return;
    request.log.warn({ why: answer.message, refused }, 'refused requests: unavailable');
    refused = 0;
    nextAt = now + OVERLOAD_EVERY;
  };
}
