import type { Api } from '../dependencies.ts';

/** Names in one header. */
const MOST = 20;
/** Characters of one name in the header. */
const LONGEST = 200;

type Schema = { additionalProperties?: unknown; properties?: Record<string, Schema>; items?: Schema };

/**
 * Names the body fields that a route does not know in the header `x-ignored-fields`: validation drops them, and a misspelled
 * field would go unnoticed. Added after the bodies are read and before they are validated.
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

/** A field's name may hold a comma, a line break or any character, which a header may not. */
const headerText = (name: string): string => encodeURIComponent(name).slice(0, LONGEST);
