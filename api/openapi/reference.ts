import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify';
import { fastify } from 'fastify';
import type { Config } from '../../core/settings/config.ts';
import type { DocumentedRoute, RawDocument } from './document.ts';
import { documented, errorsOf } from './routes.ts';
import { CONSOLE, PUBLIC } from './text.ts';

/** The parts of a route that the documents need. */
export type RouteToDocument = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'config'>;

/** Returns the list to which each documented route is added when it is registered. Call it before the routes are. */
export function collectRoutes(app: Pick<FastifyInstance, 'addHook'>): readonly RouteToDocument[] {
  const routes: RouteToDocument[] = [];
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    if (method === 'HEAD' || schema?.hide === true) return;
    routes.push({ method, url, ...(schema && { schema }), ...(config && { config }) });
  });
  return routes;
}

export type Reference = {
  /** The OpenAPI object of all routes, from which the documents are generated. */
  raw: RawDocument;
  /** Routes by operation id. */
  routes: ReadonlyMap<string, DocumentedRoute>;
};

/**
 * Creates the reference of an API's routes in a Fastify instance of its own, which does not listen. The package for it
 * takes a tenth of the API's start, so it is loaded here.
 */
export async function createReference(
  given: readonly RouteToDocument[],
  { baseUrl }: Pick<Config, 'baseUrl'>,
): Promise<Reference> {
  const { default: swagger } = await import('@fastify/swagger');
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
  await app.ready();
  return { raw: app.swagger() as unknown as RawDocument, routes };
}
