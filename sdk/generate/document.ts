/** The API's OpenAPI document, as far as the SDKs are generated from it. */
export type Document = {
  paths: Record<string, Record<string, OperationObject>>;
  webhooks?: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
};

export type OperationObject = {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
};

export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: (string | number | boolean | null)[];
  const?: string | number | boolean | null;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  description?: string;
  format?: string;
};

const FAILURE = /^[45]\d\d$/;

/** Returns the document without error responses, which all have one form, and without examples. */
export function withoutFailures(document: Document): Document {
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const kept = Object.entries(methods).map(([method, operation]) => {
      const responses = Object.entries(operation.responses).filter(([status]) => !FAILURE.test(status));
      return [method, { ...operation, responses: Object.fromEntries(responses) }];
    });
    return [path, Object.fromEntries(kept)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Returns the names of the schemas of webhook events. */
export function eventSchemas(document: Document): string[] {
  return Object.values(document.webhooks ?? {}).flatMap((methods) =>
    Object.values(methods).flatMap(({ requestBody }) => {
      const name = requestBody?.content['application/json']?.schema?.$ref?.split('/').at(-1);
      return name ?? [];
    }),
  );
}
