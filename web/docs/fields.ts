import { type ApiDocument, nameOfReference, resolved, type Schema } from './document.ts';

/** A field as a reader sees it. */
export type Field = {
  name: string;
  /** Path of names from the section's name on: the field's anchor. */
  id: string;
  /** In words: `string or null`, `array of Link`. */
  type: string;
  required: boolean;
  /** Markdown. */
  description: string;
  /** The values that it may have; empty: any. */
  values: string[];
  /** One sentence each for limits, format and default. Markdown. */
  facts: string[];
  shape: Shape;
};

/** The contents of a value. */
export type Shape = {
  fields: Field[];
  /** The forms of a value that has several. */
  variants: { name: string; shape: Shape }[];
  /** The type that contains itself here, so that it is not unfolded again. */
  repeats: string | null;
};

type Place = {
  document: ApiDocument;
  id: string;
  /** Names of the enclosing types. */
  around: readonly string[];
};

const EMPTY: Shape = { fields: [], variants: [], repeats: null };

/** Returns the contents of a schema, with every nested field. @param id name of the section */
export function shapeOf(document: ApiDocument, schema: Schema, id: string): Shape {
  return shapeAt({ document, id, around: [] }, schema);
}

/** Returns one field: a parameter, a header, or a property. */
export function fieldOf(
  document: ApiDocument,
  { name, schema, required }: { name: string; schema: Schema; required: boolean },
  section: string,
): Field {
  return fieldAt({ document, id: section, around: [] }, name, schema, required);
}

function fieldAt(place: Place, name: string, schema: Schema, required: boolean): Field {
  const inner = { ...place, id: `${place.id}.${name}` };
  const { main } = withoutNull(resolved(place.document, schema));
  const target = resolved(place.document, main);
  const element = elementOf(place.document, target);
  return {
    name,
    id: inner.id,
    type: typeOf(place.document, schema),
    required,
    description:
      schema.description ?? resolved(place.document, schema).description ?? target.description ?? '',
    values: valuesOf(element ?? target),
    facts: factsOf({ ...target, ...(schema.default !== undefined && { default: schema.default }) }, element),
    shape: shapeAt(inner, schema),
  };
}

function shapeAt(place: Place, schema: Schema): Shape {
  const { document, around } = place;
  const { main } = withoutNull(resolved(document, schema));
  const name = main.$ref ? nameOfReference(main.$ref) : schema.$ref ? nameOfReference(schema.$ref) : null;
  if (name !== null && around.includes(name)) return { ...EMPTY, repeats: name };
  const inside = name === null ? place : { ...place, around: [...around, name] };
  const whole = resolved(document, main);
  const forms = whole.anyOf ?? whole.oneOf;
  if (forms) return variantsOf(inside, forms);
  if (whole.items) return shapeAt({ ...inside, id: `${place.id}[]` }, whole.items);
  if (whole.properties) {
    const { properties, required = [] } = whole;
    const fields = Object.entries(properties).map(([key, property]) =>
      fieldAt(inside, key, property, required.includes(key)),
    );
    return { ...EMPTY, fields };
  }
  if (typeof whole.additionalProperties === 'object') {
    return shapeAt({ ...inside, id: `${place.id}.*` }, whole.additionalProperties);
  }
  return EMPTY;
}

function variantsOf(place: Place, forms: readonly Schema[]): Shape {
  const variants = forms.map((form, nth) => {
    const name = nameOf(place.document, form) ?? `${typeOf(place.document, form)} ${nth + 1}`;
    return { name, shape: shapeAt({ ...place, id: `${place.id}.${name}` }, form) };
  });
  const filled = variants.filter(({ shape }) => isFilled(shape));
  return { ...EMPTY, variants: filled };
}

/** Whether a shape has any contents. */
export const isFilled = ({ fields, variants, repeats }: Shape): boolean =>
  fields.length + variants.length > 0 || repeats !== null;

/** Returns all fields within a shape, those of nested ones included. */
export function allFields({ fields, variants }: Shape): Field[] {
  return [
    ...fields.flatMap((field) => [field, ...allFields(field.shape)]),
    ...variants.flatMap(({ shape }) => allFields(shape)),
  ];
}

/** Splits `null` off a schema. */
function withoutNull(schema: Schema): { main: Schema; isNullable: boolean } {
  if (Array.isArray(schema.type)) {
    const others = schema.type.filter((type) => type !== 'null');
    const type = others.length === 1 ? others[0] : others;
    return {
      main: { ...schema, ...(type !== undefined && { type }) },
      isNullable: others.length < schema.type.length,
    };
  }
  const forms = schema.anyOf ?? [];
  const others = forms.filter(({ type }) => type !== 'null');
  if (others.length === forms.length) return { main: schema, isNullable: false };
  const [only] = others;
  if (others.length === 1 && only) return { main: only, isNullable: true };
  return { main: { ...schema, anyOf: others }, isNullable: true };
}

function elementOf(document: ApiDocument, { items }: Schema): Schema | null {
  return items ? resolved(document, withoutNull(resolved(document, items)).main) : null;
}

/** Returns the type of a schema in words. */
function typeOf(document: ApiDocument, schema: Schema): string {
  const whole = resolved(document, schema);
  const { main, isNullable } = withoutNull(whole);
  const named = schema.$ref && !main.$ref ? { ...main, title: nameOfReference(schema.$ref) } : main;
  const words = plainType(document, named);
  return isNullable ? `${words} or null` : words;
}

function plainType(document: ApiDocument, schema: Schema): string {
  const name = nameOf(document, schema);
  const whole = resolved(document, schema);
  const forms = whole.anyOf ?? whole.oneOf;
  if (forms) return [...new Set(forms.map((form) => typeOf(document, form)))].join(' or ');
  if (whole.items) return `array of ${plural(typeOf(document, whole.items))}`;
  if (whole.properties) return name === null ? 'object' : `object ${name}`;
  if (typeof whole.additionalProperties === 'object') {
    return `map of ${plural(typeOf(document, whole.additionalProperties))}`;
  }
  const type = [whole.type ?? typeOfValue(whole)].flat().join(' or ');
  const count = valuesOf(whole).length;
  if (count > 0) return count === 1 ? `${type}, always` : `${type}, one of`;
  return withFormat(type, whole.format);
}

const typeOfValue = ({ const: value, enum: [first] = [] }: Schema): string => {
  const known = value ?? first;
  return known === undefined ? 'any' : typeof known;
};

const plural = (type: string): string => {
  if (type.includes(' or ')) return `(${type})`;
  if (type.startsWith('object ')) return type.slice('object '.length);
  return type.replace(/^(string|integer|number|boolean|object)/, '$1s');
};

const FORMATS: Readonly<Record<string, string>> = { 'date-time': 'instant', uri: 'URL', uuid: 'UUID' };

const withFormat = (type: string, format?: string): string =>
  format === undefined ? type : `${type} (${FORMATS[format] ?? format})`;

function nameOf(document: ApiDocument, schema: Schema): string | null {
  if (schema.$ref) return nameOfReference(schema.$ref);
  return schema.title !== undefined && schema.title in document.components.schemas ? schema.title : null;
}

const valuesOf = ({ enum: values, const: only }: Schema): string[] =>
  (values ?? (only === undefined ? [] : [only]))
    .filter((value) => value !== null)
    .map((value) => JSON.stringify(value));

function factsOf(schema: Schema, element: Schema | null): string[] {
  const { minItems, maxItems, uniqueItems, pattern, default: preset } = schema;
  return [
    preset === undefined ? '' : `Default \`${JSON.stringify(preset)}\``,
    rangeOf(schema),
    lengthOf(schema, 'characters'),
    counted(minItems, maxItems, 'elements'),
    uniqueItems ? 'Each element once' : '',
    pattern === undefined ? '' : `Pattern \`${pattern}\``,
    element ? lengthOf(element, 'characters each') : '',
    element?.pattern === undefined ? '' : `Each as the pattern \`${element.pattern}\``,
  ].filter((fact) => fact !== '');
}

function rangeOf({ minimum, maximum, exclusiveMinimum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `From ${minimum} to ${maximum}`;
  if (exclusiveMinimum !== undefined) {
    return `More than ${exclusiveMinimum}${maximum === undefined ? '' : `, at most ${maximum}`}`;
  }
  if (minimum !== undefined) return `At least ${minimum}`;
  return maximum === undefined ? '' : `At most ${maximum}`;
}

const lengthOf = ({ minLength, maxLength }: Schema, unit: string): string =>
  counted(minLength, maxLength, unit);

function counted(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && least === most) return `${least} ${unit}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most} ${unit}`;
  if (least !== undefined) return `At least ${least} ${unit}`;
  return most === undefined ? '' : `At most ${most} ${unit}`;
}
