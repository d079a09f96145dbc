import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { badRequest } from '../core/errors.ts';

/** Pieces that the schemas of several resources are made of. */

/** Bytes of `metadata` as JSON in UTF-8. */
export const METADATA_LIMIT = 4_096;

/** `schema` or null, as one schema with two types: an error then names what is wrong, not "anyOf". */
export function Nullable<T extends TSchema & { type: string }>(schema: T): TUnsafe<Static<T> | null> {
  const { type, ...rest } = schema;
  const withNull =
    'enum' in rest && Array.isArray(rest.enum) ? { ...rest, enum: [...rest.enum, null] } : rest;
  return Type.Unsafe<Static<T> | null>({ ...withNull, type: [type, 'null'] });
}

/** One of `values`. */
export function OneOf<const T extends string>(
  values: readonly T[],
  options: { description?: string; default?: T } = {},
) {
  return { ...Type.Unsafe<T>({ type: 'string', enum: [...values], ...options }), type: 'string' };
}

/** An object of a request body: fields that it doesn't name are dropped. */
export function Body<T extends TProperties>(fields: T, options: { description?: string } = {}): TObject<T> {
  return Type.Object(fields, { ...options, additionalProperties: false });
}

export const Uuid = Type.String({ format: 'uuid' });
export const Instant = Type.String({ format: 'date-time' });

/** `external_id` of links and bio pages. */
export const ExternalId = Type.String({ minLength: 1, maxLength: 200 });

/** A JSON object of any fields. Its size is for {@link checkMetadata} to judge. */
export const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: `A JSON object of at most ${METADATA_LIMIT} bytes serialized.`,
});

export const NullableMetadata = Type.Unsafe<Record<string, unknown> | null>({
  ...Metadata,
  type: ['object', 'null'],
});

export const IdParams = Type.Object({ id: Uuid });

export const Ok = Type.Object({ ok: Type.Literal(true) });

/** `limit` of a page. */
export const Limit = (maximum: number, otherwise: number) =>
  Type.Integer({ minimum: 1, maximum, default: otherwise, description: 'Rows per page.' });

/** The query parameters of a reporting window; `resolveWindow` of api/time-window.ts says what they mean together. */
export const WINDOW_PARAMETERS = {
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 365, description: 'Days back from `to`, 30 unless given.' }),
  ),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Start of the window, inclusive.' })),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'End of the window, exclusive; now unless given.' }),
  ),
};

/** The window that an answer covers. */
export const Window = Type.Object({ from: Instant, to: Instant });

/** @throws {AppError} `bad_request` when `metadata` is larger than {@link METADATA_LIMIT} */
export function checkMetadata(metadata: Record<string, unknown> | null | undefined): void {
  if (metadata && Buffer.byteLength(JSON.stringify(metadata)) > METADATA_LIMIT) {
    throw badRequest('metadata', `must be at most ${METADATA_LIMIT} bytes serialized`);
  }
}
