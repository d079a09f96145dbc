import { DEFAULT_LANGUAGE, type Language } from '../../core/languages/languages.ts';
import { negotiateLanguage } from '../../core/languages/negotiate.ts';
import { escapeHtml } from '../../core/text/html.ts';
import { workspaceLogo } from '../../sql/workspaces/logos.ts';
import { addVary, assetOf, builtAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { applyMain } from './apply-page.ts';
import { assetPath, PORTAL_POLICY, type PortalFiles, portalHtml, writingIn } from './html.ts';
import { isOpen, type OfPortal, portalOf } from './portal-of.ts';

const FOREVER = 'public, max-age=31536000, immutable';
const LOGO_CACHE = 'public, max-age=300';

/** Registers the pages of the affiliates' portal, `/p/<code>`, and their files. */
export async function portalPages(app: Api, { pool }: Pick<ApiDeps, 'pool'>): Promise<void> {
  let read: PortalFiles | null = null;
  // Read at the first request: the API works without the browser build, as in most tests.
  const files = (): PortalFiles => {
    read ??= { script: builtAsset('portal.js'), style: builtAsset('portal.css') };
    return read;
  };
  const hidden = { schema: { hide: true }, config: { page: true as const } };

  /** @param write returns title and main part; null: there is no such page */
  async function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    of: OfPortal | null,
    write: (of: OfPortal, language: Language) => Promise<{ title: string; main: string }>,
  ) {
    const asked = String(request.headers['accept-language'] ?? '');
    const language = of?.workspace.language ?? (asked === '' ? DEFAULT_LANGUAGE : negotiateLanguage(asked));
    const setting = {
      files: files(),
      language,
      of,
      hasLogo: of !== null && (await workspaceLogo(pool, of.workspace.id)) !== null,
    };
    const { title, main } = of ? await write(of, language) : missing(language);
    addVary(reply, 'Accept-Language');
    return reply
      .status(of ? 200 : 404)
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-language', language)
      .header('cache-control', 'no-store')
      .header('content-security-policy', PORTAL_POLICY)
      .header('referrer-policy', 'same-origin')
      .header('x-content-type-options', 'nosniff')
      .header('x-robots-tag', 'noindex')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()')
      .send(portalHtml(setting, title, main));
  }

  app.get<{ Params: { code: string } }>('/p/:code', hidden, async (request, reply) => {
    const found = await portalOf(pool, request.params.code);
    const of = found && isOpen(found.program) ? found : null;
    return sendPage(request, reply, of, async (of, language) => ({
      title: `${of.program.name} – ${of.workspace.name}`,
      main: applyMain(of, writingIn(language)),
    }));
  });

  app.get<{ Params: { code: string } }>('/p/:code/logo.png', hidden, async (request, reply) => {
    const found = await portalOf(pool, request.params.code);
    const logo = found && (await workspaceLogo(pool, found.workspace.id));
    if (!logo) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', LOGO_CACHE), assetOf(logo, 'image/png'));
  });

  app.get<{ Params: { file: string } }>('/p/assets/:file', hidden, (request, reply) => {
    const { script, style } = files();
    const found = [
      { asset: script, path: assetPath(script, 'js') },
      { asset: style, path: assetPath(style, 'css') },
    ].find(({ path }) => path === `/p/assets/${request.params.file}`);
    if (!found) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', FOREVER), found.asset);
  });
}

function missing(language: Language): { title: string; main: string } {
  const { words } = writingIn(language);
  const title = words('not_found');
  return {
    title,
    main: `<div class="alone"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(words('not_found_text'))}</p></div>`,
  };
}
