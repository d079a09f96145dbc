import { AppError } from '../../core/errors.ts';
import type { Api } from '../dependencies.ts';

/**
 * An unknown path answers 404, a known path with a wrong method 405 with `Allow`. Both are decided before the
 * body is read, so that no body turns them into another error. Added before the routes: it learns them as they
 * are registered.
 */
export function addUnknownPaths(app: Api): void {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', (route) => {
    if (route.url === '*') return; // the preflights' own
    const entry = known.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) entry.methods.add(method);
    known.set(route.url, entry);
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = [...known.values()]
      .filter((entry) => entry.pattern.test(path))
      .flatMap((entry) => [...entry.methods]);
    if (methods.length === 0) throw new AppError('not_found', 'there is nothing at this path');
    reply.header('allow', [...new Set(methods)].sort().join(', '));
    throw new AppError('method_not_allowed', `${request.method} is not offered at this path`);
  });
  app.setNotFoundHandler(() => {
    throw new AppError('not_found', 'there is nothing at this path');
  });
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
