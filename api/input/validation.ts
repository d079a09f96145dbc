import Ajv from 'ajv';
import type { TSchema } from 'typebox';
import type { AppError } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import type { Api } from '../dependencies.ts';
import { type FieldSchema, ignoredNames, openObjects, readFields, type UnknownField } from './body-fields.ts';
import { compileOnFirstUse } from './compile-on-first-use.ts';
import { type SchemaError, slipError } from './faults.ts';
import { bodyRefusal, checkAccepted, type RestOfBody } from './rest-of-body.ts';

type Schema = { type?: unknown; properties?: Record<string, { type?: unknown }> };

const validators = compileOnFirstUse<Ajv.ValidateFunction>();

/**
 * Validates requests by JSON Schema. Bodies are not coerced: `"19.99"` is not a number. Query and path parameters
 * of type integer, number or boolean are parsed first, strictly: `1e2`, `0x10` and an empty text are not integers.
 * Unknown body fields are dropped: object schemas of bodies set `additionalProperties: false`. All faults are found;
 * `MOST_VALUES` of `body.ts` bounds their number. A schema is compiled at its first request.
 */
export function addValidation(app: Api): void {
  const ajv = bodyAjv();
  const unknownIn = new WeakMap<object, UnknownField[]>();

  app.addHook('onRoute', ({ method, url, schema }) => {
    if (schema?.body === undefined) return;
    requireClosed(schema.body as FieldSchema, `${[method].flat().join()} ${url}`);
  });

  app.addHook('preValidation', async ({ routeOptions, body }, reply) => {
    const { body: schema } = routeOptions.schema ?? {};
    if (schema === undefined || typeof body !== 'object' || body === null) return;
    const unknown = readFields(schema as FieldSchema, body);
    unknownIn.set(body, unknown);
    const ignored = ignoredNames(unknown);
    if (ignored !== null) reply.header('x-ignored-fields', ignored);
  });
  app.addHook('preHandler', async (request) => checkAccepted(request));
  app.setValidatorCompiler<Schema>(({ schema, httpPart }) => {
    if (httpPart === 'body') {
      return bodyValidator(schema, ajv, (body) => unknownIn.get(body as object) ?? []);
    }
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

/** Validates a body. Misspelled fields are faults in addition to those of the schema. */
function bodyValidator(schema: Schema, ajv: Ajv.Ajv, unknownFields: (body: unknown) => UnknownField[]) {
  const validator = validators(schema, () => ajv.compile(schema));
  const check = (body: unknown): boolean => {
    const refused = unknownFields(body).filter(({ isRefused }) => isRefused);
    const validate = validator();
    const valid = validate(body);
    check.errors = [...refused.map(slipError), ...((validate.errors as SchemaError[] | null) ?? [])];
    return valid && refused.length === 0;
  };
  check.errors = [] as SchemaError[];
  return check;
}

/** @throws Error when a body's schema has an object whose unknown fields would be dropped without a word */
function requireClosed(schema: FieldSchema, name: string): void {
  const open = openObjects(schema);
  if (open.length > 0)
    throw new Error(`${name}: objects of bodies must be made by Body or ReadBody: ${open}`);
}

/** Validates a value as a body of a schema. Returns the error, or null. @param rest finds faults beyond the schema */
export type BodyCheck = (body: unknown, rest?: RestOfBody) => AppError | null;

/**
 * Returns the validation of a route's body, for bodies without a route of their own. Like a route, it sets defaults and
 * drops unknown fields in the body itself.
 */
export function bodyCheck(schema: TSchema, usual: RestOfBody | null = null): BodyCheck {
  requireClosed(schema as FieldSchema, 'bodyCheck');
  const check = bodyValidator(schema, bodyAjv(), (body) => readFields(schema as FieldSchema, body));
  return (body, rest) => (check(body) ? null : bodyRefusal(check.errors, body, rest ?? usual));
}

function bodyAjv(): Ajv.Ajv {
  return new Ajv.Ajv({
    useDefaults: true,
    removeAdditional: true,
    allErrors: true,
    verbose: true, // errors carry the schema that failed, for their message
    strict: true,
    allowUnionTypes: true,
    keywords: ['example', 'refusesUnknown', 'shown'],
    formats: {
      uuid: isUuid,
      'date-time': (text: string) => parseInstant(text) !== null,
      'instant-cursor': (text: string) => parseInstant(text) !== null,
      'uuid-cursor': isUuid,
      // Formats only for the document: the handlers validate them, with a better message.
      uri: true,
      email: true,
      currency: true,
      'uuid-list': true,
    },
  });
}

/** Parses a parameter's text. An unreadable text is returned unchanged, so that the schema refuses it. */
const READERS: Record<string, (text: string) => unknown> = {
  integer: (text) => (/^-?\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text),
  number: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};
