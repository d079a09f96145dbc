import { isJson, type Json } from './components.ts';
import { EXAMPLE_VALUES } from './example-values.ts';

const REFERENCE = '#/components/schemas/';

/** Values for a format, for fields without a value of their own. */
const BY_FORMAT: Record<string, unknown> = {
  uuid: '019aabf4-3c00-7000-8000-000000000001',
  'date-time': '2026-11-20T10:00:00.000000Z',
  date: '2026-11-20',
  uri: 'https://shop.example/autumn',
  email: 'ada@shop.example',
};

/**
 * Returns an example of a schema: required fields, and optional ones that `EXAMPLE_VALUES` names with their type
 * (`Type.field`).
 *
 * @param schema as the document has it
 * @param types `components.schemas`
 * @param owner what an unnamed schema belongs to, such as an operation id
 * @throws when a field has no example
 */
export function exampleOf(schema: unknown, types: Record<string, Json>, owner = ''): unknown {
  return valueFor(schema, { owner, field: '' });

  function valueFor(part: unknown, at: { owner: string; field: string }): unknown {
    if (!isJson(part)) throw new Error(`${at.owner}.${at.field} has no schema`);
    const own = `${at.owner}.${at.field}`;
    if (own in EXAMPLE_VALUES) return EXAMPLE_VALUES[own];
    if ('const' in part) return part.const;
    if (typeof part.$ref === 'string') {
      const title = part.$ref.slice(REFERENCE.length);
      const isObject = isJson(types[title]?.properties);
      return valueFor(types[title], isObject ? { owner: title, field: '' } : at);
    }
    if (Array.isArray(part.anyOf)) return valueFor(part.anyOf[0], at);
    if (Array.isArray(part.oneOf)) return valueFor(part.oneOf[0], at);
    if (isJson(part.properties)) return objectOf(part, at);
    if (part.type === 'array') return [valueFor(part.items, at)];
    if (Array.isArray(part.enum)) return part.default ?? part.enum[0];
    // `id` is a UUID if its format says so, else the value of the table.
    if (at.field === 'id' && part.format === 'uuid') return BY_FORMAT.uuid;
    if (at.field in EXAMPLE_VALUES) return EXAMPLE_VALUES[at.field];
    if (typeof part.format === 'string' && part.format in BY_FORMAT) return BY_FORMAT[part.format];
    throw new Error(`api/openapi/example-values.ts has no value for ${own} (${JSON.stringify(part)})`);
  }

  function objectOf(part: Json, { owner, field }: { owner: string; field: string }): Json {
    const required = Array.isArray(part.required) ? part.required : [];
    const name = field === '' ? owner : `${owner}.${field}`;
    return Object.fromEntries(
      Object.entries(part.properties as Json)
        .filter(([key]) => required.includes(key) || `${name}.${key}` in EXAMPLE_VALUES)
        .map(([key, value]) => [key, valueFor(value, { owner: name, field: key })]),
    );
  }
}
