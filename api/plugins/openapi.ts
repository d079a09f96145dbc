import { type Asset, compressedAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import { type DocumentPart, documentOf } from '../openapi/document.ts';
import { collectRoutes, createReference, type Reference } from '../openapi/reference.ts';
import { CONSOLE, PUBLIC } from '../openapi/text.ts';

/** Paths of the API's document and of the one for the console's browser. */
export const DOCUMENT_PATHS = {
  public: '/api/v1/openapi.json',
  console: '/api/v1/console-openapi.json',
} as const;

/**
 * Serves two OpenAPI 3.1 documents, made from the routes' schemas: one for calls with keys, one for the console's
 * own calls. Call it before the routes are registered.
 */
export function addOpenApi(app: Api, { config }: Pick<ApiDeps, 'config'>): void {
  const routes = collectRoutes(app);
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
  for (const path of ['/docs/json', '/docs/yaml']) app.get(path, hidden, sendPublic);
}
