import { AppError } from '../../core/errors.ts';
import { sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { createSite } from './site.ts';

/** Files with their content's hash in their names. */
const FOREVER = 'public, max-age=31536000, immutable';

/**
 * The pages load only their own files, and call the API of their own origin. It has no `upgrade-insecure-requests`,
 * which would break a deployment on plain HTTP. `blob:` shows images from the API's responses.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Registers the documentation: guides and the API reference below `/docs`, each page also as Markdown, and the lists of
 * them for programs. Anyone may read it.
 */
export async function docsRoutes(app: Api, { config }: Pick<ApiDeps, 'config'>): Promise<void> {
  const site = createSite(config);
  const send = async (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> => {
    const asset = await site.file(path);
    if (asset === null) throw new AppError('not_found', 'the documentation has no such page');
    if (asset.type.startsWith('text/html')) {
      reply
        .header('content-security-policy', POLICY)
        .header('referrer-policy', 'same-origin')
        .header('cross-origin-opener-policy', 'same-origin')
        .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()');
    }
    reply.header('cache-control', path.startsWith('assets/') ? FOREVER : 'no-cache');
    return sendAsset(request, reply, asset);
  };
  const hidden = { schema: { hide: true } } as const;
  app.get('/docs', hidden, (request, reply) => send(request, reply, ''));
  app.get<{ Params: { '*': string } }>('/docs/*', hidden, (request, reply) =>
    send(request, reply, request.params['*']),
  );
  for (const file of ['llms.txt', 'llms-full.txt']) {
    app.get(`/${file}`, hidden, (request, reply) => send(request, reply, file));
  }
}
