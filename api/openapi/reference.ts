import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyContextConfig, RouteOptions } from 'fastify';
import { fastify } from 'fastify';
import type { Config } from '../../core/settings/config.ts';
import type { DocumentedRoute, RawDocument } from './document.ts';
import { documented, errorsOf } from './routes.ts';
import { CONSOLE, PUBLIC } from './text.ts';

/** What the documents need of a route. */
export type RouteToDocument = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'config'>;

/** A response of the pages at `/docs`. */
export type PageResponse = {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  body: Buffer;
};

export type Reference = {
  /** The OpenAPI object of all routes, from which the documents are made. */
  raw: RawDocument;
  /** By operation id. */
  routes: ReadonlyMap<string, DocumentedRoute>;
  /** Returns the response to a GET of a page or file at `/docs`. */
  page(url: string, headers: IncomingHttpHeaders): Promise<PageResponse>;
};

/**
 * Creates the reference of an API's routes in a Fastify instance of its own, which does not listen. The packages for it
 * take a tenth of the API's start, so they are loaded here.
 */
export async function createReference(
  given: readonly RouteToDocument[],
  { baseUrl }: Pick<Config, 'baseUrl'>,
): Promise<Reference> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ]);
  const routes = new Map<string, DocumentedRoute>();
  const app = fastify({ exposeHeadRoutes: true });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      servers: [{ url: baseUrl }],
      components: { securitySchemes: { ...PUBLIC.securitySchemes, ...CONSOLE.securitySchemes } },
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      const id = schema?.operationId;
      if (id !== undefined) {
        const config: FastifyContextConfig = route.config ?? {};
        routes.set(id, { config, hasBody: schema.body !== undefined, errors: errorsOf(schema, route) });
      }
      return { url, schema: documented(schema ?? {}, route) };
    },
  });
  for (const { method, url, schema = {}, config = {} } of given) {
    app.route({ method, url, schema, config, handler: () => {} });
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without the top bar of the other layout: it shows another product's logo and violates the policy's style
    // rules.
    uiConfig: { deepLinking: true, layout: 'BaseLayout' },
    staticCSP: docsPolicy(baseUrl),
    theme: {
      title: 'Hoplog API',
      css: [{ filename: 'hoplog.css', content: DOCS_STYLE }],
    },
  });
  await app.ready();
  return {
    raw: app.swagger() as unknown as RawDocument,
    routes,
    async page(url, headers) {
      const response = await app.inject({ url, headers });
      return { status: response.statusCode, headers: response.headers, body: response.rawPayload };
    },
  };
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
