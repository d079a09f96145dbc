import type { RouteOptions } from 'fastify';
import { AppError } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';

type Path = { pattern: RegExp; methods: Set<string>; isFixed: boolean };

/**
 * Responds 404 to an unknown path, and 405 with `Allow` to a known path with a wrong method. It responds before the
 * body is read. Call it before the routes are registered.
 *
 * `GET /links/bulk` would match `/links/:id`, with the id `bulk`. Where every parameter is a UUID, the fixed path wins.
 */
export function addUnknownPaths(app: Api): void {
  const paths = new Map<string, Path>();
  const idPaths = new Set<string>();

  app.addHook('onRoute', (route) => {
    if (route.url === '*') return; // CORS preflights
    const isFixed = !/[:*]/.test(route.url);
    const entry = paths.get(route.url) ?? {
      pattern: patternOf(route.url),
      methods: new Set<string>(),
      isFixed,
    };
    for (const method of [route.method].flat()) entry.methods.add(method);
    paths.set(route.url, entry);
    if (!isFixed && hasOnlyIds(route)) idPaths.add(route.url);
  });

  /** Returns the methods of a path. A fixed path hides routes whose ids can't have its text. */
  function methodsOf(path: string): string[] {
    const matching = [...paths].filter(([, { pattern }]) => pattern.test(path));
    const fixed = matching.some(([, { isFixed }]) => isFixed);
    const meant = fixed ? matching.filter(([url]) => !idPaths.has(url)) : matching;
    return [...new Set(meant.flatMap(([, { methods }]) => [...methods]))].sort();
  }

  app.addHook('onRequest', async (request, reply) => {
    const { url = '' } = request.routeOptions;
    if (!request.is404 && !idPaths.has(url)) return;
    const path = request.url.split('?', 1)[0] ?? '';
    if (!request.is404 && !paths.get(path)?.isFixed) return;
    const methods = methodsOf(path);
    if (methods.length === 0) throw unknownPath(path);
    reply.header('allow', methods.join(', '));
    throw new AppError('method_not_allowed', `${request.method} is not supported at this path`);
  });
  app.setNotFoundHandler(({ url }) => {
    throw unknownPath(url.split('?', 1)[0] ?? '');
  });

  /**
   * Returns the error of an unknown path. Clients often join a base URL that ends in `/api/v1` to a path that begins
   * with it too, or with a part of it, or leave it out.
   */
  function unknownPath(path: string): AppError {
    const segments = path.split('/').filter((segment) => segment !== '');
    const first = segments.findIndex((segment) => !PREFIX.test(segment));
    const meant = first === -1 ? null : `${BASE}${segments.slice(first).join('/')}`;
    const isKnown = meant !== null && meant !== path && methodsOf(meant).length > 0;
    return new AppError('not_found', isKnown ? `unknown path; did you mean ${meant}?` : 'unknown path');
  }
}

const BASE = '/api/v1/';
/** Segments that precede the paths of APIs. */
const PREFIX = /^(?:api|v\d+)$/i;

/** Whether every parameter of a route's path is a UUID. */
function hasOnlyIds({ url, schema }: RouteOptions): boolean {
  if (url.includes('*')) return false;
  const { properties = {} } = (schema?.params ?? {}) as { properties?: Record<string, { format?: string }> };
  const names = url.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
  return names.every((name) => properties[name]?.format === 'uuid');
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replace(/[^\w-]/g, (c) => `\\${c}`),
    )
    .join('/');
  return new RegExp(`^${source}$`);
}
