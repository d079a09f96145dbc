import Ajv from 'ajv';
import type { FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { AppError, type ErrorDetail } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import type { Api } from '../dependencies.ts';
import { compiledLater } from './compiled-later.ts';

type Schema = { type?: unknown; properties?: Record<string, { type?: unknown }> };

/**
 * Validation by JSON Schema. Bodies are judged as they are: `"19.99"` is no number. Query and path parameters are
 * text, so those that a schema calls integer, number or boolean are read first, strictly (`1e2`, `0x10` and an
 * empty text are no integers). Unknown body fields are dropped: object schemas of bodies say
 * `additionalProperties: false`. The first thing wrong is reported, not all of them, so that a body of a million
 * wrong values costs no more than one. A schema is compiled for its first request.
 */
export function addValidation(app: Api): void {
  const ajv = bodyAjv();
  app.setValidatorCompiler<Schema>(({ schema, httpPart }) => {
    const validator = compiledLater(() => ajv.compile(schema));
    const readers =
      httpPart === 'body'
        ? []
        : Object.entries(schema.properties ?? {}).flatMap(([name, { type }]) => {
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

/** Judges something as a body that a schema describes. Gives what is wrong with it, or null. */
export type BodyCheck = (body: unknown) => AppError | null;

/**
 * The validation that a route's body gets, for bodies that no route of their own brings. As there, defaults are set
 * and unknown fields dropped in the body itself.
 */
export function bodyCheck(schema: TSchema): BodyCheck {
  const validator = compiledLater(() => bodyAjv().compile(schema));
  return (body) => {
    const validate = validator();
    if (validate(body) === true) return null;
    const detail = validationDetail(validate.errors ?? [], 'body');
    return new AppError('bad_request', `${detail.path}: ${detail.message}`, [detail]);
  };
}

function bodyAjv(): Ajv.Ajv {
  return new Ajv.Ajv({
    useDefaults: true,
    removeAdditional: true,
    allErrors: false,
    strict: true,
    allowUnionTypes: true,
    keywords: ['example'],
    formats: {
      uuid: isUuid,
      'date-time': (text: string) => parseInstant(text) !== null,
      'instant-cursor': (text: string) => parseInstant(text) !== null,
      'uuid-cursor': isUuid,
      // For the document only: the handlers judge these, with a message that helps.
      uri: true,
      email: true,
      currency: true,
      'uuid-list': true,
    },
  });
}

/** What a parameter's text means, or the text itself when it means nothing, for the schema to refuse. */
const READERS: Record<string, (text: string) => unknown> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  number: (text) => (/^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** What to tell the caller: the dotted path of the field, and what is wrong with it. */
export function validationDetail(
  errors: FastifySchemaValidationError[],
  context: string | undefined,
): ErrorDetail {
  const [error] = errors;
  const where = context === 'querystring' ? 'query' : context === 'params' ? 'path' : (context ?? 'body');
  if (!error) return { path: where, message: 'is invalid' };
  const parts = error.instancePath.split('/').slice(1).map(unescapePointer);
  const missing = error.params.missingProperty;
  if (error.keyword === 'required' && typeof missing === 'string') {
    return { path: [...parts, missing].join('.'), message: 'is required' };
  }
  const path = parts.join('.') || where;
  if (error.keyword === 'enum' && Array.isArray(error.params.allowedValues)) {
    return { path, message: `must be one of ${error.params.allowedValues.join(', ')}` };
  }
  if (error.keyword === 'format')
    return { path, message: FORMAT_MESSAGES[String(error.params.format)] ?? 'is invalid' };
  return { path, message: error.message ?? 'is invalid' };
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
