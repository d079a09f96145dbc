import type { Api, ApiDeps } from '../dependencies.ts';

/** A year, the minimum of browsers' preload lists. */
const HSTS = 'max-age=31536000';

/**
 * Adds headers for browsers and caches: no guessing of content types, HTTPS only once it was used, and no caching of
 * responses to a key or session. A route's own `cache-control` stays.
 */
export function addSecurityHeaders(app: Api, { config }: Pick<ApiDeps, 'config'>): void {
  const isSecure = config.baseUrl.startsWith('https:');
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
    if (isSecure) reply.header('strict-transport-security', HSTS);
  });
  app.addHook('onSend', async (request, reply) => {
    const { authorization, cookie } = request.headers;
    if ((authorization ?? cookie) === undefined || reply.hasHeader('cache-control')) return;
    if (request.routeOptions.config.scope !== undefined) reply.header('cache-control', 'no-store');
  });
}
