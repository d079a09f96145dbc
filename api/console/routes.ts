import { randomBytes } from 'node:crypto';
import { sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply } from '../dependencies.ts';
import { findOpenDashboard } from '../shared-dashboards/access.ts';
import { type ConsoleFiles, readConsoleFiles } from './files.ts';
import { consoleHtml, consolePolicy, SHARED_PAGE } from './page.ts';

const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Registers the console's page at every path below `/console`, the page of shared dashboards, and their files. The API
 * checks the session, and the password of a dashboard.
 */
export async function consoleRoutes(
  app: Api,
  { config, pool }: Pick<ApiDeps, 'config' | 'pool'>,
): Promise<void> {
  let read: ConsoleFiles | null = null;
  // Read at the first request: the API works without the browser build, as in most tests.
  const files = (): ConsoleFiles => {
    read ??= readConsoleFiles();
    return read;
  };
  const hidden = { schema: { hide: true } };

  /**
   * @param path of a page of the build, below `/console`
   * @param ancestors source of the pages that may frame it
   */
  const sendPage = (
    reply: FastifyReply,
    path: string,
    referrer: string,
    reads: readonly string[],
    ancestors: '*' | "'none'" = "'none'",
  ) => {
    const nonce = randomBytes(16).toString('base64');
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-security-policy', consolePolicy(nonce, [config.publicUrl], ancestors))
      .header('referrer-policy', referrer)
      .header('x-content-type-options', 'nosniff')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()')
      .send(consoleHtml(files(), nonce, path, reads));
  };
  // A person who opens the API's host in a browser expects the console.
  app.get('/', hidden, (_request, reply) => reply.redirect(`${config.appUrl}/console`, 302));
  const ofPage = { ...hidden, config: { page: true as const } };
  for (const url of ['/console', '/console/*']) {
    app.get(url, ofPage, (request, reply) => {
      const [path = ''] = request.url.replace('/console', '').split('?', 1);
      return sendPage(reply, path, 'same-origin', ['/api/v1/session']);
    });
  }
  app.get<{ Params: { token: string } }>('/shared/:token', ofPage, async (request, reply) => {
    const { token } = request.params;
    const found = await findOpenDashboard(pool, token);
    const isEmbeddable = found?.dashboard.embed === true;
    reply.status(found ? 200 : 404).header('x-robots-tag', 'noindex, nofollow');
    // The page also loads in pages with Cross-Origin-Embedder-Policy.
    if (isEmbeddable) {
      reply.header('cross-origin-resource-policy', 'cross-origin');
      reply.header('cross-origin-embedder-policy', 'require-corp');
    }
    // The token in the URL is a secret: without this header, other sites get it in `referer`.
    return sendPage(
      reply,
      SHARED_PAGE,
      'no-referrer',
      found ? [`/api/v1/shared/${token}`] : [],
      isEmbeddable ? '*' : "'none'",
    );
  });

  app.get<{ Params: { file: string } }>('/console/assets/:file', hidden, (request, reply) => {
    const asset = files().assets.get(request.params.file);
    if (!asset) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', FOREVER), asset);
  });
}
