import { randomBytes } from 'node:crypto';
import { sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { type ConsoleFiles, readConsoleFiles } from './files.ts';
import { consoleHtml, consolePolicy } from './page.ts';

const FOREVER = 'public, max-age=31536000, immutable';

/** Registers the console's page at every path below `/console`, and its files. The API checks the session. */
export async function consoleRoutes(app: Api, { config }: Pick<ApiDeps, 'config'>): Promise<void> {
  let read: ConsoleFiles | null = null;
  // Read at the first request: the API works without the browser build, as in most tests.
  const files = (): ConsoleFiles => {
    read ??= readConsoleFiles();
    return read;
  };
  const hidden = { schema: { hide: true } };

  const sendPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [path = ''] = request.url.replace('/console', '').split('?', 1);
    const nonce = randomBytes(16).toString('base64');
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('content-security-policy', consolePolicy(nonce, [config.publicUrl]))
      .header('referrer-policy', 'same-origin')
      .header('x-content-type-options', 'nosniff')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=()')
      .send(consoleHtml(files(), nonce, path));
  };
  const ofPage = { ...hidden, config: { page: true as const } };
  app.get('/console', ofPage, (request, reply) => sendPage(request, reply));
  app.get('/console/*', ofPage, (request, reply) => sendPage(request, reply));

  app.get<{ Params: { file: string } }>('/console/assets/:file', hidden, (request, reply) => {
    const asset = files().assets.get(request.params.file);
    if (!asset) return reply.callNotFound();
    return sendAsset(request, reply.header('cache-control', FOREVER), asset);
  });
}
