import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { errorCodes, type FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { type Unstorable, unstorableIn } from '../../core/text/storable.ts';
import type { Api } from '../dependencies.ts';

/**
 * What stands in a body for a row that can't be kept; see `rows` of a route's settings. Of the row itself nothing is
 * left: it may be too deep even for the fingerprint of an `Idempotency-Key`.
 */
export class UnstorableRow {
  readonly problem: Unstorable;

  constructor(problem: Unstorable) {
    this.problem = problem;
  }
}

/** Of a body that comes without a key, unless its route says otherwise: the longest are passkeys, of some KiB. */
const PUBLIC_BODY_LIMIT = 65_536;

/**
 * Reads JSON bodies, and refuses before any schema sees it what no part of the service could keep as it was sent:
 * bytes that are no UTF-8, NUL (PostgreSQL has no such character), half a surrogate pair, numbers beyond a double's
 * range, and nesting that would overflow a stack. The same goes for text in the query and the path. Where a route judges
 * rows one by one, such a row is the route's to refuse. A body of another type is refused by routes that take one.
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
        throw new AppError('unsupported_media_type', 'send the body as it is, without content-encoding');
      }
      if (!isUtf8(body)) throw new AppError('bad_request', 'the body is not UTF-8');
      let value: unknown;
      try {
        value = JSON.parse(body.toString('utf8'));
      } catch {
        throw new AppError('bad_request', 'the body is not valid JSON');
      }
      const { rows } = request.routeOptions.config;
      if (rows === undefined) refuseUnstorable('body', value);
      else judgeRowsApart(value, rows);
      return value;
    },
  );
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.schema?.body) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
    // Nobody asked for this body. Clients name the type of one that is empty: `curl -d ''` says it is a form.
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

function judgeRowsApart(body: unknown, field: string): void {
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
