/** The OpenAPI document, as far as the site shows it. */
export type ApiDocument = {
  info: { title: string; description: string };
  servers: { url: string }[];
  tags: Tag[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, Response>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, { description: string }>;
  };
};

export type Tag = { name: string; description: string };

export type Schema = {
  $ref?: string;
  title?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
};

export type Header = { description: string; schema: Schema; example?: unknown };
export type Media = { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> };
export type Response = {
  $ref?: string;
  description: string;
  content?: Record<string, Media>;
  headers?: Record<string, { $ref?: string } & Partial<Header>>;
};

export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; description?: string; content: Record<string, Media> };
  responses: Record<string, Response>;
  security?: Record<string, string[]>[];
  'x-access'?: Access;
};

/** The callers of an operation, beyond the kind of its key. */
export type Access = {
  /** Restricted keys with one of these scopes may call it. */
  scopes?: string[];
  /** It needs a key with `manage`: always, or with some parameters. */
  manage?: 'always' | 'sometimes';
  plan: 'any' | 'paid' | 'depends';
};

/** An operation with its place in the document. */
export type Endpoint = { operation: Operation; method: string; path: string };

/** Returns every operation, in the document's order. */
export function endpointsOf({ paths }: ApiDocument): Endpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ operation, method: method.toUpperCase(), path })),
  );
}

/** Returns the last part of a reference: the name of a type, response or header. */
export const nameOfReference = (reference: string): string => reference.split('/').at(-1) ?? '';

/**
 * Returns the schema that a reference leads to, with the keywords beside the reference.
 *
 * @throws Error when the document lacks it
 */
export function resolved({ components }: ApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  const name = nameOfReference($ref);
  const found = components.schemas[name];
  if (!found) throw new Error(`the document has no schema ${name}`);
  return { title: name, ...resolved({ components } as ApiDocument, found), ...beside };
}

/** Returns the response that a reference leads to, or the response itself. */
export function responseOf({ components }: ApiDocument, response: Response): Response {
  if (response.$ref === undefined) return response;
  const found = components.responses[nameOfReference(response.$ref)];
  if (!found) throw new Error(`the document has no response ${response.$ref}`);
  return found;
}

/** Returns the address of an operation's page. */
export const operationPath = (operationId: string): string => `/docs/api/${operationId}`;

/** Returns the address of a tag's page. */
export const tagPath = (tag: string): string => `/docs/api/${tag.toLowerCase().replaceAll(' ', '-')}`;

/** Returns the address of an event's page. */
export const eventPath = (type: string): string => `/docs/webhooks/${type}`;

/** Returns the address of an error's page. */
export const errorPath = (code: string): string => `/docs/errors/${code}`;

/** Returns the codes of an operation's errors, by status. */
export function errorsOf(
  document: ApiDocument,
  { responses }: Operation,
): { status: string; codes: string[] }[] {
  return Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .map(([status, response]) => ({ status, codes: codesOf(responseOf(document, response)) }));
}

const codesOf = ({ content = {} }: Response): string[] =>
  Object.keys(content['application/json']?.examples ?? {});
