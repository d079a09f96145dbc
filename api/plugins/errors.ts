import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isHostHeader } from '../../core/addresses/host-header.ts';
import { type ErrorEnvelope, errorEnvelope, errorPageOf } from '../../core/error-envelope.ts';
import { AppError } from '../../core/errors.ts';
import { badFields } from '../../core/faults.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { validationDetails } from '../input/faults.ts';
import { bodyRefusal, restOfRoute } from '../input/rest-of-body.ts';
import { databaseError } from './database-errors.ts';
import { createFaultLog } from './fault-log.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Address of the page on errors, without the code. */
    errorPage: string;
  }
}

/** `Retry-After` of a 503, in seconds. */
const RETRY_AFTER = '1';
const MIB = 1_048_576;

/** Sends every error in the envelope: ours, Fastify's, the databases', and any other as `internal`. */
export function addErrors(app: Api, { config }: Pick<ApiDeps, 'config'>): void {
  app.decorate('errorPage', errorPageOf(config));
  const logFault = createFaultLog(app.log);
  app.setErrorHandler((error, request, reply) => {
    const answer = refusedBody(error as FastifyError, request) ?? toAppError(error);
    logFault(answer, error, request);
    return sendError(answer, request, reply);
  });
}

/**
 * Returns the error of a body over the route's limit, or of one that its schema refuses, with the faults that the route
 * finds in its other fields.
 */
function refusedBody({ statusCode, validation, validationContext }: FastifyError, request: FastifyRequest) {
  const limit = request.routeOptions.bodyLimit;
  if (statusCode === 413 && limit !== undefined) {
    const message = `must be at most ${limit >= MIB ? `${limit / MIB} MiB` : `${limit / 1_024} KiB`}`;
    return new AppError('payload_too_large', `\`body\` ${message}`, [{ path: 'body', message }]);
  }
  if (!validation || validationContext !== 'body') return null;
  return bodyRefusal(validation, request.body, restOfRoute(request));
}

/** Converts any thrown value to the error that the API sends. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isBrokenOff(error)) return callerGone();
  const stored = databaseError(error);
  if (stored) return stored;
  return (
    fastifyError(error as FastifyError) ??
    new AppError('internal', 'internal error; report it with its request_id')
  );
}

/** The error of a request whose client disconnected. No one reads it, and it is not logged. */
export const callerGone = () => new AppError('bad_request', 'the client closed the connection');

/**
 * Whether the client disconnected before its body was complete. Fastify marks that with status 400; a database
 * connection's reset has none.
 */
function isBrokenOff(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, statusCode } = error as FastifyError;
  return code === 'ECONNRESET' && statusCode === 400;
}

function fastifyError(error: FastifyError): AppError | null {
  if (error.validation) {
    return badFields(validationDetails(error.validation, error.validationContext));
  }
  switch (error.statusCode) {
    case 413:
      return new AppError('payload_too_large', 'the request body is too large');
    case 415:
      return new AppError('unsupported_media_type', 'send JSON with content-type: application/json');
    case 503:
      return new AppError('unavailable', 'the API is shutting down; try again');
    default:
      return error.statusCode && error.statusCode >= 400 && error.statusCode < 500
        ? new AppError('bad_request', error.message)
        : null;
  }
}

/** Sends an error in the envelope. */
export function sendError(answer: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (answer.code === 'unavailable') reply.header('retry-after', RETRY_AFTER);
  if (answer.retryAfter !== undefined) reply.header('retry-after', String(answer.retryAfter));
  if (answer.code === 'unauthorized') reply.header('www-authenticate', 'Bearer');
  return reply
    .status(answer.status)
    .header('x-request-id', request.id)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(envelope(answer, request)));
}

/** Returns the body of an error response to a request. */
export const envelope = (error: AppError, { id, server }: FastifyRequest): ErrorEnvelope =>
  errorEnvelope(error, id, server.errorPage);

/**
 * Responds to requests that Node refuses before they reach a handler: 400 for malformed requests and headers over 64
 * KiB, 408 for requests that are too slow. Sends the envelope and closes the connection.
 */
export function answerClientError(newId: () => string, errorPage: string) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const failure = clientErrorOf(error);
    const id = newId();
    const body = JSON.stringify(errorEnvelope(failure, id, errorPage));
    socket.end(
      `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nx-request-id: ${id}\r\naccess-control-allow-origin: *\r\n` +
        `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
        `connection: close\r\n\r\n${body}`,
    );
  };
}

/**
 * Replaces two responses that Node sends without an envelope and an id. HTTP/1.1 without a Host header, with two, or
 * with one that names no host (RFC 9112, section 3.2) gets a usual 400, after which the connection ends. An unknown
 * expectation is ignored, as RFC 9110 (10.1.1) allows. Requires `requireHostHeader: false`.
 */
export function addBareRefusals(app: Api): void {
  const refused = new WeakSet<Socket>();
  /** Requests that follow a refused one: a proxy may not have read them as requests. */
  const behind = new WeakSet<IncomingMessage>();
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Runs before the hooks, because those of a following request start before the first one's have ended.
  app.server.prependListener('request', (request) => {
    if (refused.has(request.socket)) behind.add(request);
    else if (hasUnclearHost(request)) refused.add(request.socket);
  });
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (behind.has(raw)) {
      reply.hijack();
      return;
    }
    if (!hasUnclearHost(raw)) return;
    reply.header('connection', 'close');
    throw new AppError('bad_request', 'the request must have one valid Host header');
  });
}

/** Returns whether a request names no host, or several. Node reads the first of several lines. */
function hasUnclearHost({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if (headers.host === undefined) return httpVersion === '1.1';
  if (!isHostHeader(headers.host)) return true;
  let lines = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at])) lines += 1;
  return lines > 1;
}

const isHost = (name: string | undefined) => name?.length === 4 && name.toLowerCase() === 'host';

function clientErrorOf({ code }: NodeJS.ErrnoException): AppError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new AppError('request_timeout', 'the request did not arrive in time');
  if (code === 'HPE_HEADER_OVERFLOW') return new AppError('bad_request', 'the request headers are too large');
  return new AppError('bad_request', 'malformed HTTP request');
}
