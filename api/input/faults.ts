import type { FastifySchemaValidationError } from 'fastify';
import type { ErrorDetail } from '../../core/errors.ts';
import { blankOffsetHint } from '../../core/time/timestamps.ts';
import { PATTERN_MESSAGES } from '../schemas.ts';
import type { UnknownField } from './body-fields.ts';

/** The common fields of errors from Fastify and AJV. */
export type SchemaError = FastifySchemaValidationError & {
  parentSchema?: ValueSchema;
  /** The invalid value. */
  data?: unknown;
  detail?: ErrorDetail;
};

/** Keyword of the error for an unknown field. */
const SLIP = 'slip';

/** Returns the error of a refused unknown field. */
export function slipError({ path, near, known }: UnknownField): SchemaError {
  const owner = path.slice(0, -1).join('.');
  const message = `is not a field of ${owner === '' ? 'this body' : `\`${owner}\``}`;
  const hint = near === null ? `it has ${known.join(', ')}` : `did you mean \`${near}\`?`;
  return {
    keyword: SLIP,
    instancePath: '',
    schemaPath: '',
    params: { meant: [...path.slice(0, -1), near ?? ''].join('.') },
    detail: { path: path.join('.'), message, hint },
  };
}

/** Returns the correct names of misspelled fields. */
export const meantBy = (errors: readonly FastifySchemaValidationError[]): string[] =>
  errors.flatMap(({ keyword, params }) => (keyword === SLIP ? [String(params.meant)] : []));

/** Returns the faults of a request, one for each field, by its dotted path. */
export function validationDetails(
  errors: readonly FastifySchemaValidationError[],
  context: string | undefined,
): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>();
  // A field that is missing because its name is misspelled counts as one fault.
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
    return { path, message: `must be one of ${error.params.allowedValues.map(String).join(', ')}` };
  }
  const wrong = error.keyword === 'pattern' ? PATTERN_MESSAGES[String(error.params.pattern)] : undefined;
  if (wrong !== undefined) return { path, message: wrong };
  if (error.keyword === 'format') {
    const message = FORMAT_MESSAGES[String(error.params.format)] ?? 'is invalid';
    const hint = message === INSTANT_MESSAGE ? blankOffsetHint(String(error.data)) : null;
    return { path, message, ...(hint !== null && { hint }) };
  }
  if (error.parentSchema !== undefined && DESCRIBED_KEYWORDS.has(error.keyword)) {
    const expected = describeValue(error.parentSchema);
    if (expected !== null) return { path, message: `must be ${expected}` };
  }
  return { path, message: error.message ?? 'is invalid' };
}

/** Keywords whose message lists all allowed values: "must be an integer from 1 to 500". */
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

/** Returns a range with a space before it, or an empty text without a limit. */
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
