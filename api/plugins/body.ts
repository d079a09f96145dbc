import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';

/** Nothing in the API nests this deep; below it, recursive code is safe. */
const MAX_DEPTH = 64;

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

/** Walks without recursion: the walk itself must stand any input. Drops `__proto__` keys on its way. */
function refuseUnstorable(where: string, root: unknown): void {
  const pending: { path: string; value: unknown; depth: number }[] = [{ path: '', value: root, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { path, value, depth } = next;
    if (typeof value === 'string') {
      refuseText(path || where, value);
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw badRequest(path || where, 'must be a finite number');
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= MAX_DEPTH) throw badRequest(where, `must not nest deeper than ${MAX_DEPTH} levels`);
      if (!Array.isArray(value)) Reflect.deleteProperty(value, '__proto__');
      for (const [key, child] of Object.entries(value)) {
        const childPath = path ? `${path}.${key}` : key;
        if (!Array.isArray(value)) refuseText(path || where, key);
        pending.push({ path: childPath, value: child, depth: depth + 1 });
      }
    }
  }
}

function refuseText(path: string, text: string): void {
  if (text.includes('\0')) throw badRequest(path, 'must not contain the NUL character');
  if (!text.isWellFormed()) throw badRequest(path, 'must be well-formed Unicode');
}
