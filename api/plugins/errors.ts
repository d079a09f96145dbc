import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorDetail } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';
import { createFaultLog } from './fault-log.ts';
import { storeError } from './store-errors.ts';
import { validationDetail } from './validation.ts';

/** Seconds after which a caller may try again when a store is down or the API is full. */
const RETRY_AFTER = '1';

/** Every error of the API in its one form. */
export type ErrorEnvelope = {
  error: { code: string; message: string; request_id: string; details?: ErrorDetail[] };
};

/** Answers errors in the envelope: ours, Fastify's, the stores', and as `internal` whatever is left. */
export function addErrors(app: Api): void {
  const logFault = createFaultLog();
  app.setErrorHandler((error, request, reply) => {
    const answer = toAppError(error);
    logFault(answer, error, request);
    return sendError(answer, request, reply);
  });
}

/** The error in the form the API speaks. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isBrokenOff(error)) return callerGone();
  const stored = storeError(error);
  if (stored) return stored;
  return fastifyError(error as FastifyError) ?? new AppError('internal', 'something went wrong on our side');
}

/** For a caller who hung up, and so will not read it: no store's failing, and nothing for the log. */
export const callerGone = () => new AppError('bad_request', 'the caller has gone');

/** Whether a body ended before it was whole: Fastify marks that as the caller's doing, no store's connection. */
function isBrokenOff(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, statusCode } = error as FastifyError;
  return code === 'ECONNRESET' && statusCode === 400;
}

function fastifyError(error: FastifyError): AppError | null {
  if (error.validation) {
    const detail = validationDetail(error.validation, error.validationContext);
    return new AppError('bad_request', `${detail.path}: ${detail.message}`, [detail]);
  }
  switch (error.statusCode) {
    case 413:
      return new AppError('payload_too_large', 'the request body is too large');
    case 415:
      return new AppError('unsupported_media_type', 'send JSON with content-type: application/json');
    case 503:
      return new AppError('unavailable', 'the API is stopping, try again');
    default:
      return error.statusCode && error.statusCode >= 400 && error.statusCode < 500
        ? new AppError('bad_request', error.message)
        : null;
  }
}

/** Sends the envelope. */
export function sendError(answer: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (answer.code === 'unavailable') reply.header('retry-after', RETRY_AFTER);
  if (answer.retryAfter !== undefined) reply.header('retry-after', String(answer.retryAfter));
  if (answer.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return reply
    .status(answer.status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(envelope(answer, request.id)));
}

/** The body of an error. */
export function envelope(error: AppError, requestId: string): ErrorEnvelope {
  return {
    error: {
      code: error.code,
      message: error.message,
      request_id: requestId,
      ...(error.details && { details: error.details }),
    },
  };
}

/**
 * Answers what Node refuses before there is a request: a 400 for what is none or has more than 64 KiB of headers, a 408
 * for what did not arrive in time; with the envelope, then the connection ends.
 */
export function answerClientError(newId: () => string) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(error);
    const id = newId();
    const body = JSON.stringify(envelope(refusal, id));
    socket.end(
      `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\nx-request-id: ${id}\r\naccess-control-allow-origin: *\r\n` +
        `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
        `connection: close\r\n\r\n${body}`,
    );
  };
}

/**
 * Takes over two refusals that Node sends without an envelope and an id: HTTP/1.1 without a Host header is a 400 like others,
 * and an expectation that nobody knows is passed over, as RFC 9110 (10.1.1) lets servers do. Needs `requireHostHeader: false`.
 */
export function addBareRefusals(app: Api): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.addHook('onRequest', async ({ raw, headers }) => {
    if (raw.httpVersion === '1.1' && headers.host === undefined) {
      throw new AppError('bad_request', 'the request has no Host header');
    }
  });
}

function refusalOf({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new AppError('request_timeout', 'the request did not arrive whole in time');
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('bad_request', 'the request headers are too large');
  return new AppError('bad_request', 'not a valid HTTP request');
}
