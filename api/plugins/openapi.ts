import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { type Asset, compressedAsset, sendAsset } from '../assets.ts';
import type { Api, ApiDeps, FastifyReply, FastifyRequest } from '../dependencies.ts';
import {
  type DocumentedRoute,
  type DocumentPart,
  documentOf,
  type RawDocument,
} from '../openapi/document.ts';
import { documented, errorsOf } from '../openapi/routes.ts';
import { CONSOLE, PUBLIC } from '../openapi/text.ts';

/** Where the document of keys is, and the one of the console's browser. */
export const DOCUMENT_PATHS = {
  public: '/api/v1/openapi.json',
  console: '/api/v1/console-openapi.json',
} as const;

/**
 * Two OpenAPI 3.1 documents, made from the routes' own schemas: of what keys may call, and of what only the console's
 * browser calls. `/docs` shows the first one and loads nothing from elsewhere. Awaited before the routes are registered.
 */
export async function addOpenApi(app: Api, { config }: Pick<ApiDeps, 'config'>): Promise<void> {
  const routes = new Map<string, DocumentedRoute>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      servers: [{ url: config.baseUrl }],
      components: { securitySchemes: { ...PUBLIC.securitySchemes, ...CONSOLE.securitySchemes } },
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      const id = schema?.operationId;
      if (id !== undefined) {
        routes.set(id, {
          config: route.config ?? {},
          hasBody: schema.body !== undefined,
          errors: errorsOf(schema, route),
        });
      }
      return { url, schema: documented(schema ?? {}, route) };
    },
  });

  const send = (part: DocumentPart) => {
    let kept: Promise<Asset> | null = null;
    // Written and compressed for its first request, then sent as it is.
    const document = (): Promise<Asset> => {
      const raw = app.swagger() as unknown as RawDocument;
      const text = JSON.stringify(documentOf(raw, routes, part));
      return compressedAsset(Buffer.from(text), 'application/json; charset=utf-8');
    };
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      kept ??= document();
      return sendAsset(request, reply, await kept);
    };
  };
  const sendPublic = send(PUBLIC);
  const options = { config: { scope: 'public', plan: 'any' }, schema: { hide: true } } as const;
  app.get(DOCUMENT_PATHS.public, options, sendPublic);
  app.get(DOCUMENT_PATHS.console, options, send(CONSOLE));

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without the bar of the other layout: it holds another product's logo, with a style that the policy forbids, and a
    // field for other documents' addresses.
    uiConfig: { deepLinking: true, layout: 'BaseLayout' },
    // The page's own routes would write the document anew for each request.
    uiHooks: {
      onRequest: async (request, reply) => {
        const { url } = request.routeOptions;
        if (url === '/docs/json' || url === '/docs/yaml') return sendPublic(request, reply);
      },
    },
    staticCSP: docsPolicy(config.baseUrl),
    theme: {
      title: 'Hoplog API',
      css: [{ filename: 'hoplog.css', content: DOCS_STYLE }],
    },
  });
}

/**
 * The page's Content-Security-Policy: its own files, and calls of the API that its forms make. Without
 * `upgrade-insecure-requests`, with which a deployment on plain HTTP would ask itself for its files by HTTPS.
 */
const docsPolicy = (baseUrl: string): Record<string, string> => ({
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': `'self' ${new URL(baseUrl).origin}`,
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
});

/** Tables scroll in themselves where they are too wide for a phone. */
const DOCS_STYLE = '.swagger-ui .renderedMarkdown table { display: block; overflow-x: auto }';
