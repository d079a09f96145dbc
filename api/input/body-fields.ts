import { ignoredFieldsHeader } from '../../core/text/ignored-fields.ts';
import { nearestName } from '../../core/text/near-names.ts';

/** Maximum number of a body's unknown fields that are examined. */
const MOST_UNKNOWN = 100;
/** Maximum characters of an unknown name in a response. */
const LONGEST = 100;
/** Objects of bodies that had a field `__proto__`. The parser removes it; it counts as an unknown field. */
export const hadProto = new WeakSet<object>();

/** The parts of a body's JSON Schema that concern fields. */
export type FieldSchema = {
  type?: unknown;
  default?: unknown;
  required?: readonly string[];
  additionalProperties?: unknown;
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
  anyOf?: readonly FieldSchema[];
  /** Set for objects of read-only requests, which refuse unknown fields. See `ReadBody` in `api/schemas.ts`. */
  refusesUnknown?: boolean;
};

/** A field of a body that is not in its schema. */
export type UnknownField = {
  /** Names and indexes, from the body down. */
  path: readonly string[];
  /** The known field that the caller probably meant, or null. */
  near: string | null;
  /** The known fields of its object. */
  known: readonly string[];
  /** Whether the request is refused because of it; otherwise the field is ignored. */
  isRefused: boolean;
};

/**
 * Walks a body once, at any depth. Returns its unknown fields, at most {@link MOST_UNKNOWN} of them. A body that writes
 * is refused only for a name that is a slip of a known, absent field. Removes optional fields that are null from
 * objects of read-only requests, where null means absent.
 */
export function readFields(schema: FieldSchema, body: unknown): UnknownField[] {
  const found: UnknownField[] = [];

  function visit(schema: FieldSchema, value: unknown, path: readonly string[]): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      if (schema.items === undefined) return;
      for (const [index, item] of value.entries()) visit(schema.items, item, [...path, String(index)]);
      return;
    }
    const { properties, additionalProperties, refusesUnknown = false } = schema;
    if (properties === undefined) return;
    const fields = value as Record<string, unknown>;
    const known = Object.keys(properties);
    for (const name of hadProto.has(value) ? [...Object.keys(fields), '__proto__'] : Object.keys(fields)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (own !== undefined) {
        if (fields[name] !== null) visit(own, fields[name], [...path, name]);
        else if (refusesUnknown && isOptional(schema, name, own)) delete fields[name];
      } else if (additionalProperties === false && found.length < MOST_UNKNOWN) {
        const meant = refusesUnknown ? known : known.filter((one) => !Object.hasOwn(fields, one));
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

/**
 * Returns the paths of the objects in a body's schema that do not say whether they allow unknown fields, or whose
 * fields {@link readFields} does not know: unknown ones would be dropped without a word.
 */
export function openObjects(schema: FieldSchema, path = 'body'): string[] {
  const { properties, items, anyOf = [], additionalProperties } = schema;
  return [
    ...(properties !== undefined && additionalProperties === undefined ? [path] : []),
    ...Object.entries(properties ?? {}).flatMap(([name, field]) => openObjects(field, `${path}.${name}`)),
    ...(items === undefined ? [] : openObjects(items, `${path}.0`)),
    // These are not walked: one schema holds what is known of a value.
    ...(anyOf.some(({ properties, items }) => properties ?? items) ? [path] : []),
  ];
}

/** Returns the header `x-ignored-fields`, or null when no field is ignored. */
export function ignoredNames(unknown: readonly UnknownField[]): string | null {
  return ignoredFieldsHeader(unknown.flatMap(({ isRefused, path }) => (isRefused ? [] : path.join('.'))));
}

const isOptional = (
  { required = [] }: FieldSchema,
  name: string,
  { type, default: otherwise }: FieldSchema,
) => (!required.includes(name) || otherwise !== undefined) && ![type].flat().includes('null');
