import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { errorCodes, type FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { type Unstorable, unstorableIn } from '../../core/text/storable.ts';
import type { Api } from '../dependencies.ts';

/**
 * Stands in a body for a row that can't be stored; see `rows` of a route's configuration. The row itself is
 * dropped: it may be too deep even for the fingerprint of an `Idempotency-Key`.
 */
export class UnstorableRow {
  readonly problem: Unstorable;

  constructor(problem: Unstorable) {
    this.problem = problem;
  }
}

/**
 * Bytes of a body on public routes, unless the route sets another limit: passkeys, the largest, have some KiB.
 */
const PUBLIC_BODY_LIMIT = 65_536;

/**
 * Parses JSON bodies, and refuses before validation what could not be stored as sent: bytes that are not UTF-8,
 * NUL (PostgreSQL has no such character), half a surrogate pair, numbers beyond a double's range, and nesting that
 * would overflow a stack. The same applies to the query and the path. Where a route validates rows one by one, the
 * route refuses such a row. Other content types are refused by routes with a body.
 */
export function addBody(app: Api): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      // Clients send the header with calls that have no body, such as DELETE.
      if (body.length === 0) return undefined;
      const { 'content-encoding': encoding } = request.headers;
      if (encoding !== undefined && encoding !== 'identity') {
        throw new AppError('unsupported_media_type', 'the body must not have a content-encoding');
      }
      if (!isUtf8(body)) throw new AppError('bad_request', 'the body must be UTF-8');
      let value: unknown;
      try {
        value = JSON.parse(body.toString('utf8'));
      } catch {
        throw new AppError('bad_request', 'the body must be valid JSON');
      }
      const { rows } = request.routeOptions.config;
      if (rows === undefined) refuseUnstorable('body', value);
      else markUnstorableRows(value, rows);
      return value;
    },
  );
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.schema?.body) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
    // The route has no body. Clients name the type of an empty one: `curl -d ''` declares a form.
    payload.resume();
  });
  app.addHook('onRoute', (route) => {
    if (route.config?.scope === 'public') route.bodyLimit ??= PUBLIC_BODY_LIMIT;
  });
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.page) return;
    refuseUnstorable('query', request.query);
    refuseUnstorable('path', request.params);
  });
}

function markUnstorableRows(body: unknown, field: string): void {
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const rows = Object.hasOwn(fields, field) ? fields[field] : null;
  if (!Array.isArray(rows)) {
    refuseUnstorable('body', body);
    return;
  }
  fields[field] = [];
  refuseUnstorable('body', body);
  fields[field] = rows.map((row: unknown) => {
    const problem = unstorableIn(row);
    return problem ? new UnstorableRow(problem) : row;
  });
}

function refuseUnstorable(where: string, root: unknown): void {
  const problem = unstorableIn(root);
  if (problem) throw badRequest(problem.path || where, problem.message);
}
