import { STATUS_CODES } from 'node:http';
import type { FastifyContextConfig } from 'fastify';
import type { ErrorCode } from '../../core/errors.ts';
import { EVENT_SCHEMAS } from '../webhooks/event-schemas.ts';
import { accessOf } from './access.ts';
import { type Components, createComponents, isJson, type Json } from './components.ts';
import { createErrorResponses, type ErrorResponses } from './errors.ts';
import { exampleOf } from './examples.ts';
import { HEADERS, headersOf } from './headers.ts';
import { REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from './operation-examples.ts';
import { curlOf } from './samples.ts';
import { webhooksOf } from './webhooks.ts';

/** The parts of a route that the document needs besides its schemas. */
export type DocumentedRoute = {
  config: FastifyContextConfig;
  hasBody: boolean;
  errors: readonly ErrorCode[];
};

/** The text of `@fastify/swagger` for a response without a description. */
const NO_DESCRIPTION = 'Default Response';

type Media = { schema: unknown; example?: unknown; examples?: Json };
type Response = { description?: string; headers?: Json; content?: Record<string, Media> };
type Parameter = Json & { name: string; in: string; required?: boolean; schema: unknown };
type Operation = Json & {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Record<string, Media> };
  responses: Record<string, Response>;
};

/** The OpenAPI object that `@fastify/swagger` makes of the routes. */
export type RawDocument = Json & {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Json;
};

type SecurityScheme = { description: string } & (
  | { type: 'http'; scheme: 'bearer' }
  | { type: 'apiKey'; in: 'cookie'; name: string }
);

/** Selects the contents of one document. */
export type DocumentPart = {
  info: Json;
  tags: { name: string; description: string }[];
  securitySchemes: Record<string, SecurityScheme>;
  /** Whether the document has the operation. */
  has: (route: DocumentedRoute) => boolean;
  /** Whether the document has the section `webhooks`. */
  webhooks: boolean;
};

/**
 * Returns a document: the operations that `part` has, with named types, response headers and examples.
 *
 * @param routes by operation id
 * @throws when two types have one name, or a field has no example
 */
export function documentOf(
  raw: RawDocument,
  routes: ReadonlyMap<string, DocumentedRoute>,
  part: DocumentPart,
): Json {
  const components = createComponents();
  const errors = createErrorResponses(components);
  const paths: Record<string, Record<string, Operation>> = {};
  const operations: { operation: Operation; path: string; method: string }[] = [];
  for (const [path, methods] of Object.entries(raw.paths)) {
    for (const [method, given] of Object.entries(methods)) {
      const route = routes.get(given.operationId);
      if (!route || !part.has(route)) continue;
      const operation = formed(structuredClone(given), route, components, errors);
      operation['x-access'] = accessOf(route, path, method);
      paths[path] = { ...paths[path], [method]: operation };
      operations.push({ operation, path, method });
    }
  }
  const webhooks = part.webhooks ? webhooksOf(EVENT_SCHEMAS, components) : null;
  const schemas = components.schemas();
  for (const { operation, path, method } of operations) {
    addExamples(operation, schemas);
    operation['x-codeSamples'] = [
      {
        lang: 'Shell',
        label: 'curl',
        source: curlOf(raw.servers[0]?.url ?? '', { ...operation, path, method }),
      },
    ];
  }
  return {
    openapi: '3.1.0',
    info: part.info,
    servers: raw.servers,
    tags: part.tags,
    paths,
    ...(webhooks && { webhooks: webhooks(schemas) }),
    components: {
      securitySchemes: part.securitySchemes,
      responses: errors.responses(schemas),
      headers: HEADERS,
      schemas,
    },
  };
}

function formed(
  operation: Operation,
  route: DocumentedRoute,
  { form }: Components,
  errors: ErrorResponses,
): Operation {
  for (const parameter of operation.parameters ?? []) {
    parameter.schema = form(parameter.schema);
    // The default of OpenAPI.
    if (parameter.required === false) delete parameter.required;
  }
  const { requestBody, responses } = operation;
  if (requestBody) {
    for (const media of Object.values(requestBody.content)) media.schema = form(media.schema);
  }
  const settings = {
    idempotent: route.config.idempotent === true,
    hasBody: route.hasBody,
    headers: route.config.responseHeaders ?? [],
  };
  for (const [status, response] of Object.entries(responses)) {
    for (const media of Object.values(response.content ?? {})) {
      media.schema = form(withoutDescription(media.schema));
    }
    if (response.description === NO_DESCRIPTION) response.description = STATUS_CODES[status] ?? status;
    response.headers = headersOf(status, settings);
  }
  Object.assign(responses, errors.of(route.errors));
  return operation;
}

/** A response has a description of its own, not that of its schema. */
function withoutDescription(schema: unknown): unknown {
  if (!isJson(schema) || typeof schema.title !== 'string') return schema;
  const { description: _, ...rest } = schema;
  return rest;
}

function addExamples(operation: Operation, schemas: Record<string, Json>): void {
  const { operationId, parameters = [], requestBody, responses } = operation;
  for (const parameter of parameters) {
    if (!parameter.required) continue;
    const { name, schema } = parameter;
    const example = exampleOf({ required: [name], properties: { [name]: schema } }, schemas, operationId);
    parameter.example = (example as Json)[name];
  }
  for (const media of Object.values(requestBody?.content ?? {})) {
    media.example = REQUEST_EXAMPLES[operationId] ?? exampleOf(media.schema, schemas);
  }
  for (const response of Object.values(responses)) {
    for (const [type, media] of Object.entries(response.content ?? {})) {
      const given = RESPONSE_EXAMPLES[operationId]?.[type];
      if (given !== undefined) media.example = given;
      else Object.assign(media, examplesOf(media.schema, schemas));
    }
  }
}

/** Returns one example, or one of each shape if a response has several. */
function examplesOf(schema: unknown, schemas: Record<string, Json>): Pick<Media, 'example' | 'examples'> {
  const shapes = isJson(schema) && Array.isArray(schema.anyOf) ? (schema.anyOf as Json[]) : [];
  if (shapes.length === 0) return { example: exampleOf(schema, schemas) };
  const examples = shapes.map((shape) => [nameOf(shape), { value: exampleOf(shape, schemas) }]);
  return { examples: Object.fromEntries(examples) };
}

const nameOf = ({ $ref }: Json): string => String($ref).split('/').at(-1) ?? '';
