import Ajv from 'ajv';
import type { FastifyContextConfig, FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import type { AppError, ErrorDetail } from '../../core/errors.ts';
import { badFields, faultsOf } from '../../core/faults.ts';
import { isUuid } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import type { Api } from '../dependencies.ts';
import { PATTERN_MESSAGES } from '../schemas.ts';
import { type FieldSchema, unknownFields, withoutNulls } from './body-fields.ts';
import { compiledLater } from './compiled-later.ts';

type Schema = { type?: unknown; properties?: Record<string, { type?: unknown }> };

const validators = compiledLater<Ajv.ValidateFunction>();

/** What Fastify and AJV have in common of an error. */
type SchemaError = FastifySchemaValidationError & { parentSchema?: ValueSchema; detail?: ErrorDetail };

/**
 * Validates requests by JSON Schema. Bodies are not coerced: `"19.99"` is not a number. Query and path parameters
 * of type integer, number or boolean are parsed first, strictly: `1e2`, `0x10` and an empty text are not integers.
 * Unknown body fields are dropped: object schemas of bodies set `additionalProperties: false`. All faults are found;
 * `MOST_VALUES` of `body.ts` bounds their number. A schema is compiled at its first request.
 */
export function addValidation(app: Api): void {
  const ajv = bodyAjv();
  app.setValidatorCompiler<Schema>(({ schema, httpPart }) => {
    if (httpPart === 'body') return bodyValidator(schema, ajv);
    const validator = validators(schema, () => ajv.compile(schema));
    const readers = Object.entries(schema.properties ?? {}).flatMap(([name, { type }]) => {
      const read = READERS[String(type)];
      return read ? [{ name, read }] : [];
    });
    const check = (input: unknown): boolean => {
      const validate = validator();
      const parameters = input as Record<string, unknown>;
      for (const { name, read } of readers) {
        const text = parameters[name];
        if (typeof text === 'string') parameters[name] = read(text);
      }
      const valid = validate(parameters);
      check.errors = validate.errors;
      return valid;
    };
    check.errors = null as Ajv.ErrorObject[] | null | undefined;
    return check;
  });
}

/** Validates a body: unknown fields that are slips of known ones are faults beside those of the schema. */
function bodyValidator(schema: Schema, ajv: Ajv.Ajv) {
  const validator = validators(schema, () => ajv.compile(schema));
  const check = (body: unknown): boolean => {
    const refused = refusedFields(schema, body);
    withoutNulls(schema as FieldSchema, body);
    const validate = validator();
    const valid = validate(body);
    check.errors = [...refused, ...((validate.errors as SchemaError[] | null) ?? [])];
    return valid && refused.length === 0;
  };
  check.errors = [] as SchemaError[];
  return check;
}

function refusedFields(schema: Schema, body: unknown): SchemaError[] {
  return unknownFields(schema as FieldSchema, body).flatMap(({ path, near, known, isRefused }) => {
    if (!isRefused) return [];
    const owner = path.slice(0, -1).join('.');
    const message = `is not a field of ${owner === '' ? 'this body' : `\`${owner}\``}`;
    const hint = near === null ? `it has ${known.join(', ')}` : `did you mean \`${near}\`?`;
    const meant = [...path.slice(0, -1), near ?? ''].join('.');
    return [
      {
        keyword: SLIP,
        instancePath: '',
        schemaPath: '',
        params: { meant },
        detail: { path: path.join('.'), message, hint },
      },
    ];
  });
}

/** Keyword of the error of an unknown field. */
const SLIP = 'slip';

/** Validates a value as a body of a schema. Returns the error, or null. */
export type BodyCheck = (body: unknown) => AppError | null;

/**
 * Returns the validation of a route's body, for bodies without a route of their own. Like a route's, it sets
 * defaults and drops unknown fields in the body itself.
 */
export function bodyCheck(schema: TSchema, checkRest?: CheckRest): BodyCheck {
  const check = bodyValidator(schema, bodyAjv());
  return (body) => (check(body) ? null : bodyRefusal(check.errors, body, checkRest));
}

type CheckRest = FastifyContextConfig['checkRest'];

/**
 * Returns the error of a body that its schema refuses.
 *
 * @param checkRest finds the faults of fields that the schema accepts
 */
export function bodyRefusal(
  errors: readonly FastifySchemaValidationError[],
  body: unknown,
  checkRest: CheckRest,
): AppError {
  const details = validationDetails(errors, 'body');
  if (!checkRest || typeof body !== 'object' || body === null || Array.isArray(body))
    return badFields(details);
  const faulty = new Set([...details.map(({ path }) => path), ...meantBy(errors)].map(topOf));
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !faulty.has(name)));
  try {
    checkRest(rest as never, faulty);
    return badFields(details);
  } catch (error) {
    const more = faultsOf(error);
    if (more === null) throw error;
    return badFields([...details, ...more.filter(({ path }) => !faulty.has(topOf(path)))]);
  }
}

const topOf = (path: string): string => path.split('.', 1)[0] ?? path;

/** The fields that misspelled names mean. */
const meantBy = (errors: readonly FastifySchemaValidationError[]): string[] =>
  errors.flatMap(({ keyword, params }) => (keyword === SLIP ? [String(params.meant)] : []));

function bodyAjv(): Ajv.Ajv {
  return new Ajv.Ajv({
    useDefaults: true,
    removeAdditional: true,
    allErrors: true,
    verbose: true, // errors carry the schema that failed, for their message
    strict: true,
    allowUnionTypes: true,
    keywords: ['example', 'refusesUnknown'],
    formats: {
      uuid: isUuid,
      'date-time': (text: string) => parseInstant(text) !== null,
      'instant-cursor': (text: string) => parseInstant(text) !== null,
      'uuid-cursor': isUuid,
      // For the document only: the handlers validate these, with a better message.
      uri: true,
      email: true,
      currency: true,
      'uuid-list': true,
    },
  });
}

/** Parses a parameter's text, or returns it unchanged for the schema to refuse. */
const READERS: Record<string, (text: string) => unknown> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  number: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** Returns the faults of a request, one for each field, by its dotted path. */
export function validationDetails(
  errors: readonly FastifySchemaValidationError[],
  context: string | undefined,
): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>();
  // A field that is missing because its name is misspelled is one fault.
  const meant = new Set(meantBy(errors));
  for (const error of errors as readonly SchemaError[]) {
    const detail = error.detail ?? detailOf(error, context);
    const isMeant = error.keyword === 'required' && meant.has(detail.path);
    if (!isMeant && !details.has(detail.path)) details.set(detail.path, detail);
  }
  return [...details.values()];
}

function detailOf(error: SchemaError, context: string | undefined): ErrorDetail {
  const where = context === 'querystring' ? 'query' : context === 'params' ? 'path' : (context ?? 'body');
  const parts = error.instancePath.split('/').slice(1).map(unescapePointer);
  const missing = error.params.missingProperty;
  if (error.keyword === 'required' && typeof missing === 'string') {
    return { path: [...parts, missing].join('.'), message: 'is required' };
  }
  const path = parts.join('.') || where;
  if (error.keyword === 'enum' && Array.isArray(error.params.allowedValues)) {
    return { path, message: `must be one of ${error.params.allowedValues.join(', ')}` };
  }
  const wrong = error.keyword === 'pattern' ? PATTERN_MESSAGES[String(error.params.pattern)] : undefined;
  if (wrong !== undefined) return { path, message: wrong };
  if (error.keyword === 'format')
    return { path, message: FORMAT_MESSAGES[String(error.params.format)] ?? 'is invalid' };
  if (error.parentSchema !== undefined && DESCRIBED_KEYWORDS.has(error.keyword)) {
    const expected = describeValue(error.parentSchema);
    if (expected !== null) return { path, message: `must be ${expected}` };
  }
  return { path, message: error.message ?? 'is invalid' };
}

/** Keywords whose message says all that the schema allows: "must be an integer from 1 to 500". */
const DESCRIBED_KEYWORDS = new Set([
  'type',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
]);

type ValueSchema = {
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

/** The values that a schema of simple types allows, or null for another schema. */
function describeValue(schema: ValueSchema): string | null {
  const types = [schema.type ?? []].flat();
  const described = types.map((type) => describeType(type, schema));
  return described.length === 0 || described.includes(null) ? null : described.join(' or ');
}

function describeType(type: string, schema: ValueSchema): string | null {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems } = schema;
  switch (type) {
    case 'integer':
    case 'number': {
      const noun = type === 'integer' ? 'an integer' : 'a number';
      if (exclusiveMinimum === undefined) return `${noun}${range(minimum, maximum, 'from')}`;
      return `${noun} greater than ${exclusiveMinimum}${range(undefined, maximum, 'and')}`;
    }
    case 'string':
      return `a string${range(minLength, maxLength, 'of', ' characters')}`;
    case 'array':
      return `a list${range(minItems, maxItems, 'of', ' items')}`;
    case 'boolean':
      return 'true or false';
    case 'object':
      return 'an object';
    case 'null':
      return 'null';
    default:
      return null;
  }
}

/** A range with a space before it, or an empty text where there is no limit. */
function range(least: number | undefined, most: number | undefined, preposition: string, unit = ''): string {
  if (least !== undefined && most !== undefined) return ` ${preposition} ${least} to ${most}${unit}`;
  const joint = preposition === 'from' ? 'of' : preposition;
  if (least !== undefined) return ` ${joint} at least ${least}${unit}`;
  return most === undefined ? '' : ` ${joint} at most ${most}${unit}`;
}

const INSTANT_MESSAGE =
  'must be an ISO 8601 instant with Z or an offset, or a date, in the years 0000 to 9999 in UTC';

const FORMAT_MESSAGES: Record<string, string> = {
  uuid: 'must be a UUID',
  'uuid-cursor': 'must be a UUID',
  'date-time': INSTANT_MESSAGE,
  'instant-cursor': INSTANT_MESSAGE,
};

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
