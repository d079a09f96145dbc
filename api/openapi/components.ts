import { isDeepStrictEqual } from 'node:util';
import { SHOWN_PATTERNS } from '../schemas.ts';

/** A part of the document, or a JSON Schema. */
export type Json = Record<string, unknown>;

/** Patterns and plain strings in the document for formats that only our validation knows. */
const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const FORMATS: Record<string, Json> = {
  // Plain strings: a client that parses a cursor as a date loses digits, and with them rows.
  'instant-cursor': {},
  'uuid-cursor': {},
  currency: { pattern: '^[A-Za-z]{3}$' },
  'uuid-list': { pattern: `^${UUID}(,${UUID})*$` },
};

/** Keywords whose value is a schema, a list of schemas, or an object of schemas by name. */
const NESTED = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']);
const NESTED_BY_NAME = new Set(['properties', 'patternProperties']);

type Usage = { node: Json; description: unknown };
type Component = { schema: Json; usages: Usage[] };

/** The named types of a document. */
export type Components = {
  /**
   * Returns a schema as the document has it: named types (schemas with a `title`) are references.
   *
   * @throws when two different schemas have the same title
   */
  form(schema: unknown): unknown;
  /** Returns `components.schemas`, sorted by name. Call it once, after the last `form`. */
  schemas(): Record<string, Json>;
};

/** Collects the named types of a document while its schemas pass through `form`. */
export function createComponents(): Components {
  const components = new Map<string, Component>();

  function form(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(form);
    if (!isJson(schema)) return schema;
    const { title, ...rest } = schema;
    const shape = shapeOf(rest, form);
    return typeof title === 'string' ? reference(title, shape) : shape;
  }

  function reference(title: string, shape: Json): Json {
    const { description, default: otherwise, ...schema } = shape;
    const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
    const own = isNullable ? withoutNull(schema) : schema;
    const known = components.get(title) ?? { schema: own, usages: [] };
    if (!isDeepStrictEqual(known.schema, own)) {
      throw new Error(
        `two different schemas are named ${title}: ${JSON.stringify(known.schema)} and ${JSON.stringify(own)}`,
      );
    }
    components.set(title, known);
    const target = { $ref: `#/components/schemas/${title}` };
    const node: Json = isNullable ? { anyOf: [target, { type: 'null' }] } : target;
    known.usages.push({ node, description });
    return otherwise === undefined ? node : Object.assign(node, { default: otherwise });
  }

  function schemas(): Record<string, Json> {
    const sorted = [...components].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([title, component]) => [title, described(component)]));
  }

  return { form, schemas };
}

/** A description that all usages share belongs to the type; otherwise each usage keeps its own. */
function described({ schema, usages }: Component): Json {
  const descriptions = new Set(
    usages.flatMap(({ description }) => (description === undefined ? [] : [description])),
  );
  const [description] = descriptions;
  if (descriptions.size === 0) return schema;
  if (descriptions.size === 1) return { ...schema, description };
  for (const { node, description } of usages) {
    if (description !== undefined) node.description = description;
  }
  return schema;
}

function shapeOf(schema: Json, form: (schema: unknown) => unknown): Json {
  const shape: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    // Bodies that write drop unknown fields. Bodies that only read refuse them, and clients know the fields.
    if (keyword === 'additionalProperties' && value === false) continue;
    if (keyword === 'refusesUnknown' || keyword === 'shown') continue;
    if (NESTED.has(keyword)) shape[keyword] = form(value);
    else if (NESTED_BY_NAME.has(keyword) && isJson(value)) shape[keyword] = mapValues(value, form);
    else shape[keyword] = value;
  }
  if (typeof shape.pattern === 'string') shape.pattern = SHOWN_PATTERNS[shape.pattern] ?? shape.pattern;
  // Adds the rules that the handler validates, with a message of its own.
  if (isJson(schema.shown)) Object.assign(shape, schema.shown);
  return withDiscriminator(schema, withPlainRecord(withOptionalDefaults(withKnownFormat(shape))));
}

function withKnownFormat(shape: Json): Json {
  const known = FORMATS[String(shape.format)];
  if (!known) return shape;
  const { format: _, ...rest } = shape;
  return { ...rest, ...known };
}

/** Makes fields with a default optional. The validated value always has them, so the schema itself requires them. */
function withOptionalDefaults(shape: Json): Json {
  const { required, ...rest } = shape;
  if (!Array.isArray(required)) return shape;
  const properties = isJson(shape.properties) ? shape.properties : {};
  const needed = required.filter((name: string) => {
    const property = properties[name];
    return !(isJson(property) && 'default' in property);
  });
  return needed.length > 0 ? { ...rest, required: needed } : rest;
}

/** Generators of clients support objects of any keys as `additionalProperties`, not as `patternProperties`. */
function withPlainRecord(shape: Json): Json {
  const { patternProperties, ...rest } = shape;
  if (!isJson(patternProperties)) return shape;
  return { ...rest, additionalProperties: Object.values(patternProperties)[0] };
}

/** Adds a discriminator to named objects with a constant `type` each. */
function withDiscriminator(schema: Json, shape: Json): Json {
  const { anyOf, ...rest } = shape;
  const names = discriminatedNames(schema.anyOf);
  if (!names) return shape;
  const mapping = Object.fromEntries(names.map(([type, title]) => [type, `#/components/schemas/${title}`]));
  return { ...rest, oneOf: anyOf, discriminator: { propertyName: 'type', mapping } };
}

function discriminatedNames(members: unknown): [string, string][] | null {
  if (!Array.isArray(members)) return null;
  const names: [string, string][] = [];
  for (const member of members) {
    const properties = isJson(member) && isJson(member.properties) ? member.properties : {};
    const type = isJson(properties.type) ? properties.type.const : undefined;
    if (typeof type !== 'string' || typeof member.title !== 'string') return null;
    names.push([type, member.title]);
  }
  return names;
}

function withoutNull(schema: Json): Json {
  const types = (schema.type as unknown[]).filter((type) => type !== 'null');
  const values = Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : null;
  return { ...schema, type: types.length === 1 ? types[0] : types, ...(values && { enum: values }) };
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(value: Json, map: (part: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part)]));
}
