import type { Api, ApiDeps } from '../dependencies.ts';

/** A year, as browsers' preload lists ask for. */
const HSTS = 'max-age=31536000';

/**
 * Adds headers that browsers and caches obey: no guessing of content types, HTTPS only once it was used, and no storing
 * of what a key or session may read. A route's own `cache-control` stays.
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
