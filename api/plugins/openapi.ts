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

/** Paths of the API's document and of the one for the console's browser. */
export const DOCUMENT_PATHS = {
  public: '/api/v1/openapi.json',
  console: '/api/v1/console-openapi.json',
} as const;

/**
 * Serves two OpenAPI 3.1 documents, made from the routes' schemas: one for calls with keys, one for the console's
 * own calls. `/docs` shows the first and loads nothing from other hosts. Await it before the routes are
 * registered.
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
    let cached: Promise<Asset> | null = null;
    // Generated and compressed at its first request.
    const document = (): Promise<Asset> => {
      const raw = app.swagger() as unknown as RawDocument;
      const text = JSON.stringify(documentOf(raw, routes, part));
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

  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without the top bar of the other layout: it shows another product's logo and violates the policy's style
    // rules.
    uiConfig: { deepLinking: true, layout: 'BaseLayout' },
    // The plugin's own routes would generate the document for each request.
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
 * Returns the page's Content-Security-Policy: its own files, and API calls by its forms. Without
 * `upgrade-insecure-requests`, which would break a deployment on plain HTTP.
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

/** Tables scroll horizontally on narrow screens. */
const DOCS_STYLE = '.swagger-ui .renderedMarkdown table { display: block; overflow-x: auto }';
