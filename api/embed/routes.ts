import { type Asset, addVary, assetOf, builtAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { assetPath, pageHtml, pagePolicy, requestedApi } from './page.ts';

/** Sites get a new loader within minutes, without waiting for it. */
const LOADER_CACHE = 'public, max-age=300, stale-while-revalidate=86400';
const FOREVER = 'public, max-age=31536000, immutable';
/** Revalidated at each load: a page never names files that are gone. */
const REVALIDATED = 'no-cache';

type Files = { loader: Asset; page: Asset; script: Asset; style: Asset };

/**
 * Registers the embeddable referral dashboard: `/embed.js`, `/embed/referrals` and its files. No authentication.
 */
export async function embedRoutes(app: Api, { config }: Pick<ApiDeps, 'config'>): Promise<void> {
  const ownApi = config.baseUrl === config.appUrl ? null : config.baseUrl;
  let read: Files | null = null;
  // Read at the first request: the API works without the browser build, as in most tests.
  const files = (): Files => {
    read ??= readFiles(ownApi);
    return read;
  };
  const hidden = { schema: { hide: true } };
  // Also in pages with Cross-Origin-Embedder-Policy, and from sandboxed frames.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cross-origin-resource-policy', 'cross-origin');
    reply.header('cross-origin-embedder-policy', 'require-corp');
  });

  app.get('/embed.js', hidden, (request, reply) =>
    sendAsset(request, reply.header('cache-control', LOADER_CACHE), files().loader),
  );

  app.get<{ Querystring: { api_base?: unknown } }>('/embed/referrals', hidden, (request, reply) => {
    const asked = requestedApi(request.query.api_base, destinationOf(request.headers['sec-fetch-dest']));
    const apis = [ownApi, asked].filter((origin) => origin !== null);
    reply
      .header('cache-control', REVALIDATED)
      .header('content-security-policy', pagePolicy(apis))
      // The URL identifies the user.
      .header('referrer-policy', 'no-referrer')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()');
    addVary(reply, 'Sec-Fetch-Dest');
    return sendAsset(request, reply, files().page);
  });

  app.get<{ Params: { file: string } }>('/embed/assets/:file', hidden, (request, reply) => {
    const { script, style } = files();
    const found = [
      { asset: script, path: assetPath('page', script, 'js') },
      { asset: style, path: assetPath('page', style, 'css') },
    ].find(({ path }) => path === `/embed/assets/${request.params.file}`);
    if (!found) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', FOREVER), found.asset);
  });
}

function readFiles(ownApi: string | null): Files {
  const script = builtAsset('embed-page.js');
  const style = builtAsset('embed-page.css');
  const page = assetOf(Buffer.from(pageHtml(script, style, ownApi)), 'text/html; charset=utf-8');
  return { loader: builtAsset('embed.js'), page, script, style };
}

const destinationOf = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);
