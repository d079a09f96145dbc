import { isJson, type Json } from '../../api/openapi/components.ts';
import { exampleOf } from '../../api/openapi/examples.ts';
import { EMAIL_LIMIT } from '../../core/tracking/emails.ts';

/** A value with one field at the limit that its schema documents. */
export type Edge = {
  /** Path of the field, such as `rules.0.name`; empty: the value itself. */
  path: string;
  /** The limit, such as `maxLength 200`, and the characters that fill it. */
  limit: string;
  value: unknown;
};

/**
 * Characters that fill a text: a letter whose lower case has two characters, and one of two UTF-16 units and four
 * bytes. Columns, indexes and code count them differently.
 */
const FILLS = ['İ', '😀'];
/** Values of a format or a pattern, of a given length. */
const OF_LENGTH: ((length: number) => string)[] = [
  (length) => `https://shop.example/${'a'.repeat(Math.max(0, length - 21))}`,
  emailOf,
  (length) => `${'shop.'.repeat(Math.ceil(length / 5))}example`.slice(-length),
  ...['a', '0', '-'].map((fill) => (length: number) => fill.repeat(length)),
];

/** An email address: at most 64 characters before the `@`, and labels of at most 63. */
function emailOf(length: number): string {
  const domain = length - 65;
  const labels = Array.from({ length: Math.ceil(domain / 64) }, () => 'b'.repeat(63)).join('.');
  return domain < 10
    ? 'a@shop.example'
    : `${'a'.repeat(64)}@${labels.slice(0, domain - 8)}.example`.replace('..', 'b.');
}

/**
 * Returns a value with each field in turn at each limit that its schema documents: the longest text, the largest and
 * the smallest number, the longest list, the most properties.
 *
 * @param schema as in the document
 * @param types `components.schemas`
 * @param base a valid value, which the others are derived from
 */
export function edgesOf(schema: unknown, types: Record<string, Json>, base: unknown, name = ''): Edge[] {
  if (!isJson(schema)) return [];
  if (typeof schema.$ref === 'string') {
    return edgesOf(types[schema.$ref.split('/').at(-1) ?? ''], types, base, name);
  }
  const options = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return [
    ...options.flatMap((option) => edgesOf(option, types, fits(option, base) ? base : undefined, name)),
    ...ownEdges(schema, types, base),
    ...fieldsOf(schema, types, base, name),
  ];
}

const fits = (option: unknown, base: unknown) => !isJson(option) || option.type !== 'object' || isJson(base);

function ownEdges(schema: Json, types: Record<string, Json>, base: unknown): Edge[] {
  const edge = (limit: string, value: unknown): Edge => ({ path: '', limit, value });
  const { maxLength, maximum, minimum, maxItems, maxProperties, items } = schema;
  const edges: Edge[] = [];
  if (typeof maxLength === 'number') {
    for (const text of textsOf(schema, maxLength)) {
      edges.push(edge(`maxLength ${maxLength} (${String.fromCodePoint(text.codePointAt(0) ?? 0)}…)`, text));
    }
  }
  if (schema.type === 'string' && (schema.minLength ?? 0) === 0 && schema.enum === undefined) {
    edges.push(edge('empty', ''));
  }
  if (Array.isArray(schema.enum) && schema.enum.length <= 4) {
    for (const one of schema.enum) edges.push(edge(`enum ${one}`, one));
  }
  if (typeof maximum === 'number') edges.push(edge(`maximum ${maximum}`, maximum));
  if (typeof minimum === 'number') edges.push(edge(`minimum ${minimum}`, minimum));
  if (typeof maxItems === 'number') {
    const one = Array.isArray(base) && base.length > 0 ? base[0] : exampleIn(items, types);
    edges.push(
      edge(
        `maxItems ${maxItems}`,
        Array.from({ length: maxItems }, (_, n) => another(one, n)),
      ),
    );
  }
  if (typeof maxProperties === 'number') {
    const pairs = Array.from({ length: maxProperties }, (_, n) => [`p${n}`, 'a']);
    edges.push(edge(`maxProperties ${maxProperties}`, Object.fromEntries(pairs)));
  }
  return edges;
}

let turn = 0;

function textsOf({ format, pattern }: Json, length: number): string[] {
  const form = typeof pattern === 'string' ? new RegExp(pattern, 'u') : /^/;
  if (format === 'uri') return [OF_LENGTH[0]?.(length) ?? ''];
  if (format === 'email') return [emailOf(Math.min(length, EMAIL_LIMIT))];
  const texts = (makers: readonly ((length: number) => string)[]) =>
    makers.map((make) => make(length)).filter((text) => form.test(text));
  // Fields alternate between the fills, because each text costs a call.
  const filled = texts(FILLS.map((fill) => (count) => fill.repeat(count)));
  if (filled.length === 0) return texts(OF_LENGTH).slice(0, 1);
  turn += 1;
  return filled.slice(turn % filled.length).slice(0, 1);
}

/** Makes items distinct, because some lists refuse repeated ones. */
const another = (one: unknown, n: number): unknown => (typeof one === 'string' && n > 0 ? `${one}${n}` : one);

function fieldsOf(schema: Json, types: Record<string, Json>, base: unknown, name: string): Edge[] {
  if (isJson(schema.properties)) {
    const whole = isJson(base) ? base : {};
    return Object.entries(schema.properties).flatMap(([key, part]) =>
      edgesOf(part, types, whole[key] ?? exampleIn(part, types, `${name}.${key}`), `${name}.${key}`).map(
        (edge) => ({
          ...edge,
          path: edge.path === '' ? key : `${key}.${edge.path}`,
          value: { ...whole, [key]: edge.value },
        }),
      ),
    );
  }
  if (!isJson(schema.items)) return [];
  const [first = exampleIn(schema.items, types)] = Array.isArray(base) ? base : [];
  return edgesOf(schema.items, types, first, name).map((edge) => ({
    ...edge,
    path: edge.path === '' ? '0' : `0.${edge.path}`,
    value: [edge.value],
  }));
}

/** Returns an example, or nothing if the document has none: a text then has only the given length. */
function exampleIn(schema: unknown, types: Record<string, Json>, owner = ''): unknown {
  try {
    return exampleOf(schema, types, owner);
  } catch {
    return undefined;
  }
}
