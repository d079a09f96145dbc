import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifySchema, RouteOptions } from 'fastify';
import { ERROR_STATUS, type ErrorCode } from '../../core/errors.ts';
import type { Api, ApiDeps, Scope } from '../dependencies.ts';
import { SESSION_COOKIE } from '../session/cookie.ts';
import { DESCRIPTION, TAGS } from './openapi-text.ts';

/**
 * The OpenAPI 3.1 document, made of the routes' own schemas, at `/api/v1/openapi.json`, and a page to read it at
 * `/docs` that loads nothing from elsewhere. Awaited before the routes are registered.
 */
export async function addOpenApi(app: Api, { config }: Pick<ApiDeps, 'config'>): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Hoplog',
        version: '1',
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: config.baseUrl }],
      tags: TAGS,
      components: {
        securitySchemes: {
          secret: { type: 'http', scheme: 'bearer', description: 'A secret workspace key, `lk_live_…`.' },
          publishable: {
            type: 'http',
            scheme: 'bearer',
            description: 'A publishable workspace key, `pk_live_…`; safe in a browser.',
          },
          partner: { type: 'http', scheme: 'bearer', description: 'A partner key, `pt_live_…`.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: SESSION_COOKIE,
            description: 'A signed-in browser. Changing calls carry `x-csrf-token` as well.',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => ({ url, schema: documented(schema ?? {}, route) }),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // Without the bar of the other layout: it holds another product's logo, with a style that the policy forbids, and a
    // field for other documents' addresses.
    uiConfig: { deepLinking: true, layout: 'BaseLayout' },
    staticCSP: docsPolicy(config.baseUrl),
    theme: {
      title: 'Hoplog API',
      css: [{ filename: 'hoplog.css', content: DOCS_STYLE }],
    },
  });
  app.get(
    '/api/v1/openapi.json',
    { config: { scope: 'public', plan: 'any' }, schema: { hide: true } },
    async () => app.swagger(),
  );
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

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_STATUS) },
        message: { type: 'string' },
        request_id: { type: 'string', description: 'Also the `x-request-id` header.' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: { path: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
  },
} as const;

/** Adds what follows from the route's own settings: who may call it, its errors, its `Idempotency-Key`. */
function documented(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const { scope, plan = 'paid', idempotent } = route.config ?? {};
  if (!scope) return schema;
  const codes: ErrorCode[] = ['bad_request', 'internal', 'unavailable'];
  if (scope !== 'public') codes.push('unauthorized');
  if (scope === 'secret' || scope === 'any' || scope === 'member') codes.push('forbidden');
  if (scope !== 'public' && scope !== 'partner' && plan !== 'any') codes.push('payment_required');
  if (route.url.includes(':')) codes.push('not_found');
  if (schema.body) codes.push('payload_too_large', 'unsupported_media_type');
  if (idempotent === true) codes.push('idempotency_in_progress', 'idempotency_key_reused');
  codes.push(...(route.config?.errors ?? []));
  return {
    ...schema,
    ...(schema.body ? { body: withOptionalDefaults(withoutClosedObjects(schema.body)) } : {}),
    ...(schema.querystring ? { querystring: withOptionalDefaults(schema.querystring) } : {}),
    ...(idempotent === true ? { headers: IDEMPOTENCY_HEADER } : {}),
    security: SECURITY[scope],
    response: { ...asRecord(schema.response), ...route.config?.answers, ...errorResponses(codes) },
  };
}

const SECURITY: Record<Scope, Record<string, string[]>[]> = {
  secret: [{ secret: [] }, { session: [] }],
  any: [{ secret: [] }, { publishable: [] }, { session: [] }],
  member: [{ session: [] }],
  partner: [{ partner: [] }],
  public: [],
};

const IDEMPOTENCY_HEADER = {
  type: 'object',
  properties: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      pattern: '^[ -~]+$',
      description: 'Makes the call safe to retry for 24 hours; see Idempotency.',
    },
  },
};

function errorResponses(codes: ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    byStatus.set(ERROR_STATUS[code], [...(byStatus.get(ERROR_STATUS[code]) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, names]) => [
      status,
      { description: names.map((name) => `\`${name}\``).join(', '), ...ERROR_SCHEMA },
    ]),
  );
}

/** Bodies drop fields they don't know, they don't refuse them: the document must not say otherwise. */
function withoutClosedObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutClosedObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !(name === 'additionalProperties' && value === false))
      .map(([name, value]) => [name, withoutClosedObjects(value)]),
  );
}

/** What has a default may be left out: inside it is always there, so the schema itself calls it required. */
function withOptionalDefaults(schema: unknown): unknown {
  const { required, properties, ...rest } = asRecord(schema);
  const parameters = asRecord(properties);
  const names = Array.isArray(required) ? required : [];
  const asked = names.filter((name: string) => !('default' in asRecord(parameters[name])));
  return { ...rest, properties, ...(asked.length > 0 && { required: asked }) };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
