import { createHash } from 'node:crypto';
import { isAllowedOrigin } from '../../core/access/allowed-origins.ts';
import { byLanguage, isLanguage, type Language } from '../../core/languages/languages.ts';
import { negotiateLanguage } from '../../core/languages/negotiate.ts';
import { type Asset, addVary, assetOf, builtAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps } from '../dependencies.ts';
import { frameAncestors, framingOrigin, workspaceOfKey } from './framing.ts';
import { assetPath, pageHtml, pagePolicy, refusalHtml, requestedApi } from './page.ts';

/** A site gets a new loader within minutes; meanwhile browsers use the old one. */
const LOADER_CACHE = 'public, max-age=300, stale-while-revalidate=86400';
const FOREVER = 'public, max-age=31536000, immutable';
/** Browsers revalidate the page at each load, because a stale page would name deleted files. */
const REVALIDATED = 'no-cache';

type Files = { loader: Asset; pages: Record<Language, Asset>; script: Asset; style: Asset };

/**
 * Registers the embeddable referral dashboard: `/embed.js`, `/embed/referrals` and its files. No authentication.
 */
export async function embedRoutes(app: Api, deps: Pick<ApiDeps, 'config' | 'pool' | 'log'>): Promise<void> {
  const { config } = deps;
  const ownApi = config.baseUrl === config.appUrl ? null : config.baseUrl;
  let read: Files | null = null;
  // Read at the first request: the API works without the browser build, as in most tests.
  const files = (): Files => {
    read ??= readFiles(ownApi);
    return read;
  };
  const hidden = { schema: { hide: true } };
  // The files also load in pages with Cross-Origin-Embedder-Policy, and from sandboxed frames.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cross-origin-resource-policy', 'cross-origin');
    reply.header('cross-origin-embedder-policy', 'require-corp');
  });

  app.get('/embed.js', hidden, (request, reply) =>
    sendAsset(request, reply.header('cache-control', LOADER_CACHE), files().loader),
  );

  type PageQuery = Partial<Record<'api_base' | 'key' | 'language' | 'preview' | 'theme', unknown>>;
  app.get<{ Querystring: PageQuery }>('/embed/referrals', hidden, async (request, reply) => {
    const { api_base: apiBase, key, language: wanted, preview, theme } = request.query;
    const asked = requestedApi(apiBase, destinationOf(request.headers['sec-fetch-dest']));
    const apis = [ownApi, asked].filter((origin) => origin !== null);
    const { allowed_origins: allowed, language: ofWorkspace } = await workspaceOfKey(deps, key);
    const language =
      chosenLanguage(wanted) ?? ofWorkspace ?? negotiateLanguage(request.headers['accept-language'] ?? '');
    const site = framingOrigin(request);
    const isRefused = site !== null && !isAllowedOrigin(site, allowed, [config.appUrl, config.baseUrl]);
    // Browsers enforce the list even when a request does not name the framing page. Any page may frame a refusal.
    // A preview has the data of the console's own page, and is framed by it alone.
    const ancestors = preview === undefined ? frameAncestors(allowed) : "'self'";
    const policy = pagePolicy(apis, isRefused ? '*' : ancestors);
    reply
      .header('cache-control', REVALIDATED)
      .header('content-security-policy', policy)
      // The URL identifies the user.
      .header('referrer-policy', 'no-referrer')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()');
    addVary(reply, 'Sec-Fetch-Dest');
    addVary(reply, 'Referer');
    addVary(reply, 'Accept-Language');
    const { script, style, pages } = files();
    if (isRefused) reply.status(403);
    const sent = isRefused
      ? assetOf(
          Buffer.from(refusalHtml(script, style, { origin: site, theme, language })),
          'text/html; charset=utf-8',
        )
      : pages[language];
    // The ETag includes the policy, so that a browser never shows a cached page under an outdated policy.
    return sendAsset(request, reply, { ...sent, hash: `${sent.hash}-${hashOf(policy)}` });
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
  const pages = byLanguage((language) =>
    assetOf(Buffer.from(pageHtml(script, style, ownApi, language)), 'text/html; charset=utf-8'),
  );
  return { loader: builtAsset('embed.js'), pages, script, style };
}

/** Returns the language that the embedding page names, or null. The page's script names an unknown one as a fault. */
const chosenLanguage = (value: unknown): Language | null =>
  typeof value === 'string' && isLanguage(value.trim()) ? (value.trim() as Language) : null;

const destinationOf = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
