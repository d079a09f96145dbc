import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import { unstorableIn } from '../../core/storable.ts';
import type { Api } from '../dependencies.ts';

/**
 * Reads JSON bodies, and refuses before any schema sees it what no part of the service could keep as it was sent:
 * bytes that are no UTF-8, NUL (PostgreSQL has no such character), half a surrogate pair, numbers beyond a double's
 * range, and nesting that would overflow a stack. The same goes for text in the query and the path.
 */
export function addBody(app: Api): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => {
      // Clients send the header with calls that have no body, such as DELETE.
      if (body.length === 0) return undefined;
      if (!isUtf8(body)) throw new AppError('bad_request', 'the body is not UTF-8');
      let value: unknown;
      try {
        value = JSON.parse(body.toString('utf8'));
      } catch {
        throw new AppError('bad_request', 'the body is not valid JSON');
      }
      refuseUnstorable('body', value);
      return value;
    },
  );
  app.addHook('preValidation', async (request) => {
    refuseUnstorable('query', request.query);
    refuseUnstorable('path', request.params);
  });
}

function refuseUnstorable(where: string, root: unknown): void {
  const problem = unstorableIn(root);
  if (problem) throw badRequest(problem.path || where, problem.message);
}
