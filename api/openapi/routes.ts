import type { FastifySchema, RouteOptions } from 'fastify';
import type { ErrorCode } from '../../core/errors.ts';
import type { Scope } from '../dependencies.ts';
import { isJson, type Json } from './components.ts';

/**
 * Returns the schema of a route for the document, extended by the route's own settings: its callers and its
 * `Idempotency-Key`.
 */
export function documented(schema: FastifySchema, route: RouteOptions): FastifySchema {
  const { scope, idempotent, answers, document } = route.config ?? {};
  if (!scope) return schema;
  const body = document?.body ?? schema.body;
  const querystring = document?.querystring ?? schema.querystring;
  return {
    ...schema,
    ...(body ? { body } : {}),
    ...(querystring ? { querystring: withOptionalDefaults(querystring) } : {}),
    ...(idempotent ? { headers: IDEMPOTENCY_HEADER } : {}),
    security: SECURITY[scope],
    response: { ...(isJson(schema.response) ? schema.response : {}), ...answers },
  };
}

/** Returns the codes of the errors that a route responds with. */
export function errorsOf(schema: FastifySchema, route: RouteOptions): ErrorCode[] {
  const { scope, plan = 'paid', idempotent, errors = [] } = route.config ?? {};
  const codes: ErrorCode[] = ['bad_request', 'internal', 'unavailable'];
  if (scope !== 'public') codes.push('unauthorized');
  if (scope === 'secret' || scope === 'any' || scope === 'member') codes.push('forbidden');
  if (scope !== 'public' && scope !== 'partner' && plan !== 'any') codes.push('payment_required');
  if (route.url.includes(':')) codes.push('not_found');
  if (schema.body) codes.push('payload_too_large', 'unsupported_media_type');
  if (idempotent) codes.push('idempotency_in_progress', 'idempotency_key_reused');
  return [...new Set([...codes, ...errors])];
}

const SECURITY: Record<Scope, Record<string, string[]>[]> = {
  secret: [{ secret: [] }],
  any: [{ secret: [] }, { publishable: [] }],
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
      description: 'Makes the call safe to retry for 24 hours. See Idempotency.',
    },
  },
};

/**
 * Makes parameters with a default optional. The validated value always has them, so the schema itself requires them.
 */
function withOptionalDefaults(schema: unknown): unknown {
  const { required = [], properties, ...rest } = schema as { required?: string[]; properties: Json };
  const needed = required.filter((name) => {
    const parameter = properties[name];
    return !(isJson(parameter) && 'default' in parameter);
  });
  return { ...rest, properties, ...(needed.length > 0 && { required: needed }) };
}
