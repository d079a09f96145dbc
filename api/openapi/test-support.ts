import type { Json } from './components.ts';

/** Reads parts of the documents for their tests. */

/** Paths that respond for as long as their caller listens. */
export const ENDLESS = ['/api/v1/clicks/live', '/api/v1/webhooks/listen'];

export type Media = { schema: Json; example?: unknown; examples?: Record<string, { value: unknown }> };
export type Response = {
  $ref?: string;
  description: string;
  headers?: Json;
  content?: Record<string, Media>;
};
type Parameter = { name: string; in: string; required?: boolean; schema: Json; example?: unknown };
export type Operation = {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
  'x-codeSamples'?: { source: string }[];
};
export type Document = {
  openapi: string;
  info: { description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Json>;
    responses: Record<string, Response>;
    headers: Json;
    securitySchemes: Json;
  };
};

/** Operations of the paths and of the section `webhooks`. */
export const operationsOf = ({ paths, webhooks = {} }: Document): Operation[] => [
  ...Object.values(paths).flatMap((methods) => Object.values(methods)),
  ...Object.values(webhooks).map(({ post }) => post),
];

/** Returns a response, which may be one of `components.responses`. */
export function responseOf(document: Document, response: Response): Response {
  if (response.$ref === undefined) return response;
  return document.components.responses[response.$ref.split('/').at(-1) ?? ''] as Response;
}

/** Every schema of the document outside examples, with its path. */
export function schemasIn(node: unknown, path = ''): [string, Json][] {
  if (Array.isArray(node)) return node.flatMap((part, index) => schemasIn(part, `${path}/${index}`));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, part]) => {
    if (key === 'example' || key === 'examples') return [];
    const own = `${path}/${key}`;
    const isSchema = key === 'schema' || key === 'items' || /\/(schemas|properties)$/.test(path);
    return [...(isSchema ? [[own, part] as [string, Json]] : []), ...schemasIn(part, own)];
  });
}
