import type { Api } from '../dependencies.ts';

/** Maximum names in the header. */
const MOST = 20;
/** Maximum characters of one name. */
const LONGEST = 200;

type Schema = { additionalProperties?: unknown; properties?: Record<string, Schema>; items?: Schema };

/**
 * Lists unknown body fields in the header `x-ignored-fields`. Validation drops them, and a misspelled field would
 * go unnoticed. Register it after bodies are parsed and before they are validated.
 */
export function addIgnoredFields(app: Api): void {
  app.addHook('preValidation', async (request, reply) => {
    const schema = request.routeOptions.schema?.body as Schema | undefined;
    if (schema === undefined) return;
    const names: string[] = [];
    collect(schema, request.body, '', names);
    if (names.length > 0) reply.header('x-ignored-fields', names.join(', '));
  });
}

function collect(schema: Schema, value: unknown, path: string, names: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (!schema.items) return;
    for (const [index, item] of value.entries()) {
      if (names.length >= MOST) return;
      collect(schema.items, item, `${path}${index}.`, names);
    }
    return;
  }
  const { properties, additionalProperties } = schema;
  if (!properties) return;
  for (const name in value) {
    if (names.length >= MOST) return;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known) collect(known, (value as Record<string, unknown>)[name], `${path}${name}.`, names);
    else if (additionalProperties === false) names.push(headerText(`${path}${name}`));
  }
}

/** Encodes a field's name: it may hold commas and line breaks. */
const headerText = (name: string): string => encodeURIComponent(name).slice(0, LONGEST);
