import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { errorCodes, type FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { type Unstorable, unstorableIn } from '../../core/text/storable.ts';
import { createTimeSlices, type Slice } from '../../core/tier/time-slices.ts';
import type { Api } from '../dependencies.ts';
import { hadProto } from './body-fields.ts';
import { outlineOf } from './json-outline.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Starts long work in slices of time that all requests share; see {@link createTimeSlices}. */
    beginSlices: () => Slice;
  }
}

/**
 * Replaces a row that can't be stored in a body; see `rows` of a route's configuration. The row itself is dropped,
 * because it may be nested too deep even for the fingerprint of an `Idempotency-Key`.
 */
export class UnstorableRow {
  readonly problem: Unstorable;

  constructor(problem: Unstorable) {
    this.problem = problem;
  }
}

/** Bytes of a body on routes without a key or with a publishable key, which anyone can read on a page. */
const OPEN_BODY_LIMIT = 65_536;
/**
 * Maximum number of values and names of a body outside of its rows. The largest legitimate body, a bio page, has some
 * hundred.
 */
const MOST_VALUES = 10_000;
/** Maximum bytes of a row, and of the rest of the body. */
const ROW_BYTES = 65_536;
/** Rows of a body, as in the schemas of routes with `rows`. */
const MOST_ROWS = 1_000;

/**
 * Parses JSON bodies. Before validation it refuses content that can't be stored as sent: bytes that are not UTF-8, NUL
 * (PostgreSQL has no such character), half a surrogate pair, numbers beyond a double's range, and nesting that would
 * overflow a stack. The same applies to the query and the path. A route that validates rows one by one refuses such a
 * row itself. Routes with a body refuse other content types.
 */
export function addBody(app: Api): void {
  app.decorate('beginSlices', createTimeSlices());
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
      return parseBody(body, request.routeOptions.config.rows ?? null, app.beginSlices());
    },
  );
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.schema?.body) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
    // The route has no body. Clients send the type of an empty one: `curl -d ''` declares a form.
    payload.resume();
  });
  app.addHook('onRoute', (route) => {
    const { scope } = route.config ?? {};
    if (scope === 'public' || scope === 'any') route.bodyLimit ??= OPEN_BODY_LIMIT;
  });
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.page) return;
    refuseUnstorable('query', request.query);
    refuseUnstorable('path', request.params);
  });
}

/**
 * Parses a body. Parsing costs by the number of values, which is limited. Rows are parsed one by one in slices of time,
 * so that no body holds the event loop.
 */
async function parseBody(body: Buffer, field: string | null, slice: Slice): Promise<unknown> {
  const limits = { field, most: MOST_ROWS, mostValues: MOST_VALUES };
  const { rows } = await outlineOf(body, limits, slice);
  // An escape in a string costs as much as a value, and is not counted.
  if (field !== null && body.length - (rows ? rows.end - rows.start : 0) > ROW_BYTES) {
    throw new AppError(
      'payload_too_large',
      `the body must have at most ${ROW_BYTES} bytes beside \`${field}\``,
    );
  }
  if (field === null || rows === null) {
    const value = parseJson(body);
    refuseUnstorable('body', value);
    return value;
  }
  if (rows.elements.length > MOST_ROWS) {
    throw badRequest(field, `must be a list of at most ${MOST_ROWS} items`);
  }
  const around = Buffer.concat([body.subarray(0, rows.start), EMPTY_LIST, body.subarray(rows.end)]);
  const value = parseJson(around) as Record<string, unknown>;
  refuseUnstorable('body', value);
  const parsed: unknown[] = [];
  for (const { start, end, values } of rows.elements) {
    await slice();
    if (end - start > ROW_BYTES || values > MOST_VALUES) {
      const message = `must be at most ${ROW_BYTES} bytes with at most ${MOST_VALUES} values`;
      parsed.push(new UnstorableRow({ path: '', message }));
      continue;
    }
    const row = parseJson(body.subarray(start, end));
    const problem = unstorableIn(row, hadProto);
    parsed.push(problem ? new UnstorableRow(problem) : row);
  }
  value[field] = parsed;
  return value;
}

const EMPTY_LIST = Buffer.from('[]');

function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    throw new AppError('bad_request', 'the body must be valid JSON');
  }
}

function refuseUnstorable(where: string, root: unknown): void {
  const problem = unstorableIn(root, hadProto);
  if (problem) throw badRequest(problem.path || where, problem.message);
}
