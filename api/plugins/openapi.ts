import { AppError } from '../../core/errors.ts';
import { type Asset, compressedAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { type DocumentPart, documentOf } from '../openapi/document.ts';
import { errorPage } from '../openapi/error-page.ts';
import { createReference, type Reference, type RouteToDocument } from '../openapi/reference.ts';
import { CONSOLE, PUBLIC } from '../openapi/text.ts';
import { ERROR_PAGE } from './errors.ts';

/** Paths of the API's document and of the one for the console's browser. */
export const DOCUMENT_PATHS = {
  public: '/api/v1/openapi.json',
  console: '/api/v1/console-openapi.json',
} as const;

/** Headers of one connection. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

/**
 * Serves two OpenAPI 3.1 documents, made from the routes' schemas: one for calls with keys, one for the console's
 * own calls. `/docs` shows the first and loads nothing from other hosts. Call it before the routes are registered.
 */
export function addOpenApi(app: Api, { config }: Pick<ApiDeps, 'config'>): void {
  const routes: RouteToDocument[] = [];
  app.addHook('onRoute', ({ method, url, schema, config: own }) => {
    if (method === 'HEAD' || schema?.hide === true) return;
    routes.push({ method, url, ...(schema && { schema }), ...(own && { config: own }) });
  });
  let created: Promise<Reference> | null = null;
  const reference = (): Promise<Reference> => {
    created ??= createReference(routes, config);
    return created;
  };

  const send = (part: DocumentPart) => {
    let cached: Promise<Asset> | null = null;
    // Generated and compressed at its first request.
    const document = async (): Promise<Asset> => {
      const { raw, routes: byId } = await reference();
      const text = JSON.stringify(documentOf(raw, byId, part));
      return compressedAsset(Buffer.from(text), 'application/json; charset=utf-8');
    };
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      cached ??= document();
      return sendAsset(request, reply, await cached);
    };
  };
  const sendPublic = send(PUBLIC);
  const options = { config: { scope: 'public', plan: 'any' }, schema: { hide: true } } as const;
  app.get(DOCUMENT_PATHS.public, options, sendPublic);
  app.get(DOCUMENT_PATHS.console, options, send(CONSOLE));

  const hidden = { schema: { hide: true } } as const;
  app.get(ERROR_PAGE, hidden, async (request, reply) => {
    const { html, policy } = errorPage();
    reply.header('content-security-policy', policy).header('referrer-policy', 'no-referrer');
    return sendAsset(request, reply, await compressedAsset(Buffer.from(html), 'text/html; charset=utf-8'));
  });
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { page } = await reference();
    const { status, headers, body } = await page(request.url, request.headers);
    if (status === 404) throw new AppError('not_found', 'unknown path');
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined && !HOP_BY_HOP.has(name)) reply.header(name, value);
    }
    return reply.status(status).send(body);
  };
  for (const path of ['/docs', '/docs/*']) app.get(path, hidden, sendPage);
  // The pages of the package would generate the document for each request.
  for (const path of ['/docs/json', '/docs/yaml']) app.get(path, hidden, sendPublic);
}
