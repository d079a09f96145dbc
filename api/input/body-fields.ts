import { nearestName } from '../../core/text/near-names.ts';

/** Unknown fields of a body that are looked at. */
const MOST = 100;
/** Characters of an unknown name that a response repeats. */
const LONGEST = 100;

/** A JSON Schema of a body, as far as its fields go. */
export type FieldSchema = {
  type?: unknown;
  default?: unknown;
  required?: readonly string[];
  additionalProperties?: unknown;
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
  /** Of an object that only reads: an unknown field is refused. See `ReadBody` in `api/schemas.ts`. */
  refusesUnknown?: boolean;
};

/** A field of a body that its schema does not have. */
export type UnknownField = {
  /** Names and indexes from the body on. */
  path: readonly string[];
  /** The known field that is meant, or null. */
  near: string | null;
  /** The known fields of its object. */
  known: readonly string[];
  /** Whether the request is refused for it; otherwise it is ignored. */
  isRefused: boolean;
};

/**
 * Finds the unknown fields of a body, at any depth, at most {@link MOST} of them. In a body that writes, one is refused
 * where it is a slip of a field that was not given.
 */
export function unknownFields(schema: FieldSchema, body: unknown): UnknownField[] {
  const found: UnknownField[] = [];

  function visit(schema: FieldSchema, value: unknown, path: readonly string[]): void {
    if (typeof value !== 'object' || value === null || found.length >= MOST) return;
    if (Array.isArray(value)) {
      if (schema.items === undefined) return;
      for (const [index, item] of value.entries()) visit(schema.items, item, [...path, String(index)]);
      return;
    }
    const { properties, additionalProperties, refusesUnknown = false } = schema;
    if (properties === undefined) return;
    const known = Object.keys(properties);
    for (const name in value) {
      if (found.length >= MOST) return;
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (own !== undefined) {
        visit(own, (value as Record<string, unknown>)[name], [...path, name]);
      } else if (additionalProperties === false) {
        const meant = refusesUnknown ? known : known.filter((one) => !Object.hasOwn(value, one));
        const near = nearestName(name, meant);
        found.push({
          path: [...path, name.slice(0, LONGEST)],
          near,
          known,
          isRefused: refusesUnknown || near !== null,
        });
      }
    }
  }

  visit(schema, body, []);
  return found;
}

/** Removes the optional fields that are null from objects that only read: they are as if left out. */
export function withoutNulls(schema: FieldSchema, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) withoutNulls(schema.items, item);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, own] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(fields, name)) continue;
    if (fields[name] !== null) withoutNulls(own, fields[name]);
    else if (schema.refusesUnknown === true && isOptional(schema, name, own)) delete fields[name];
  }
}

const isOptional = (
  { required = [] }: FieldSchema,
  name: string,
  { type, default: otherwise }: FieldSchema,
) => (!required.includes(name) || otherwise !== undefined) && ![type].flat().includes('null');
