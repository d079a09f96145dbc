import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { badRequest } from '../core/errors.ts';
import { LANGUAGES } from '../core/languages/languages.ts';
import { INVISIBLE } from '../core/text/visible.ts';
import { VISITOR_IDS_LIMIT } from '../core/tracking/track-reports.ts';

/**
 * Shared parts of the resources' schemas.
 *
 * A schema with a `title` is a named type of the OpenAPI document: `api/openapi/components.ts` moves it to
 * `components.schemas`. Validation and serialization ignore titles.
 */

/**
 * Pattern of names without control characters, which a terminal or a log would interpret. Written as ranges, because
 * not every generator of clients supports `\\p{Cc}`.
 */
export const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';
/**
 * The common ones of {@link INVISIBLE} without properties of Unicode: white space, combining marks of Latin letters,
 * the ignorable characters of the BMP, and U+2800.
 */
const SHOWN_INVISIBLE =
  '\\s\\u00ad\\u0300-\\u036f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0';
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
const name = (invisible: string) => `^[^${CONTROLS}]*[^${CONTROLS}${invisible}][^${CONTROLS}]*$`;
/** Pattern of the name of a thing, by which people find it: {@link ONE_LINE}, and not blank. */
export const NAME = name(INVISIBLE);
/** Pattern of a name that may be left empty. */
export const NAME_OR_EMPTY = `^$|${NAME}`;
/** Pattern of a text that may have line breaks. */
export const LINES = '^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u0084\\u0086-\\u009f]*$';

/** Pattern of a secret or restricted key of Stripe: https://docs.stripe.com/keys */
export const STRIPE_KEY = '^(rk|sk)_(live|test)_[A-Za-z0-9_]{1,240}$';

/** Pattern of an id, or of a text for people: at least one character is visible. */
export const NOT_BLANK = `[^${INVISIBLE}]`;
/** Pattern of a text on several lines that may be left empty. */
export const NOT_BLANK_OR_EMPTY = `^$|${NOT_BLANK}`;

const pathId = (invisible: string) => `^(?!\\.{1,2}$)[\\s\\S]*[^${invisible}]`;
/** Pattern of an id in a path: {@link NOT_BLANK}, and browsers and libraries take `.` and `..` out of a path. */
export const PATH_ID = pathId(INVISIBLE);

/** Patterns as the document shows them, by pattern: not every generator of clients knows properties of Unicode. */
export const SHOWN_PATTERNS: Readonly<Record<string, string>> = {
  [NAME]: name(SHOWN_INVISIBLE),
  [NAME_OR_EMPTY]: `^$|${name(SHOWN_INVISIBLE)}`,
  [NOT_BLANK]: `[^${CONTROLS}${SHOWN_INVISIBLE}]`,
  [NOT_BLANK_OR_EMPTY]: `^$|[^${CONTROLS}${SHOWN_INVISIBLE}]`,
  [PATH_ID]: pathId(CONTROLS + SHOWN_INVISIBLE),
};

/** Message for a text that does not match, by pattern. */
export const PATTERN_MESSAGES: Readonly<Record<string, string>> = {
  [ONE_LINE]: 'must not contain control characters',
  [NAME]: 'must not be blank or contain control characters',
  [NAME_OR_EMPTY]: 'must not be blank or contain control characters',
  [LINES]: 'must not contain control characters other than line breaks',
  [NOT_BLANK]: 'must not be blank',
  [NOT_BLANK_OR_EMPTY]: 'must not be blank',
  [PATH_ID]: 'must not be blank, and not "." or "..": no path can hold them',
  [STRIPE_KEY]: 'must be a key of Stripe, such as rk_live_… or rk_test_…',
};

/** Bytes of `metadata` as JSON in UTF-8. */
const METADATA_LIMIT = 4_096;

/** Returns `schema` or null, as one schema with two types, because errors of an `anyOf` would not name the fault. */
export function Nullable<T extends TSchema & { type: string }>(schema: T): TUnsafe<Static<T> | null> {
  const { type, ...rest } = schema;
  const withNull =
    'enum' in rest && Array.isArray(rest.enum) ? { ...rest, enum: [...rest.enum, null] } : rest;
  return Type.Unsafe<Static<T> | null>({ ...withNull, type: [type, 'null'] });
}

/** Returns a string enum of `values`. With a `title` it is a named type of the document. */
export function OneOf<const T extends string>(
  values: readonly T[],
  options: { title?: string; description?: string; default?: T } = {},
) {
  return { ...Type.Unsafe<T>({ type: 'string', enum: [...values], ...options }), type: 'string' };
}

/** Returns the schema of a language, or null. */
export const LanguageOrNull = (description: string) =>
  Nullable(OneOf(LANGUAGES, { title: 'Language', description }));

/** Returns the schema of a request body; unknown fields are dropped. */
export function Body<T extends TProperties>(
  fields: T,
  options: { title?: string; description?: string } = {},
): TObject<T> {
  return Type.Object(fields, { ...options, additionalProperties: false });
}

/**
 * Returns the schema of an object that refuses an unknown field: a body that only reads, since a misspelled filter must
 * not return all rows, and the rules of a link. Null in an optional field counts as absent. Objects within it need it
 * too.
 */
export function ReadBody<T extends TProperties>(
  fields: T,
  options: { title?: string; description?: string } = {},
): TObject<T> {
  return Type.Object(fields, { ...options, additionalProperties: false, refusesUnknown: true });
}

export const Uuid = Type.String({ format: 'uuid' });
/** `_vid`: one visitor id, or those of one browser, newest first. One schema, as in {@link Nullable}. */
export const VisitorIds = (description: string) =>
  Type.Unsafe<string | string[] | null>({
    type: ['string', 'array', 'null'],
    format: 'uuid',
    items: { type: 'string', format: 'uuid' },
    maxItems: VISITOR_IDS_LIMIT,
    description,
  });
/** How `_vid` relates to `visitor_id`. */
export const VID_IS_VISITOR_ID = 'Another name of `visitor_id`. Given both, they must be equal.';

/** Rules of a destination that are not in the schema. */
export const DESTINATION = 'At most 12,288 characters when percent-encoded.';

export const Instant = Type.String({ format: 'date-time' });

/** A web URL in a response. */
export const Url = Type.String({ format: 'uri' });

/** An email address; the handler validates it. */
export const Email = Type.String({ format: 'email' });

/** A currency in a response. */
export const Currency = Type.String({
  pattern: '^[a-z]{3}$',
  description: 'ISO 4217 code in lower case.',
});

/** A currency in a request, in any case; the handler validates it. */
export const CurrencyInput = Type.String({ format: 'currency', description: 'ISO 4217 code.' });

/** A text that a request gives, and that shows something: an id, or what a list is searched for. */
export const VisibleText = (maxLength: number, description?: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: NOT_BLANK,
    // The document has the long pattern once for each length.
    title: `Text${maxLength}`,
    ...(description !== undefined && { description }),
  });

/** The name of a thing that a person or a program made, by which people find it. */
export const Name = Type.String({ minLength: 1, maxLength: 100, pattern: NAME, title: 'Name' });

/** `external_id` of links and bio pages. */
export const ExternalId = Type.String({ ...VisibleText(200), title: 'ExternalId' });

/** An order of the workspace's own product. */
export const OrderId = Type.String({ ...VisibleText(200), title: 'OrderId' });

/** A user of the workspace's own product. */
export const ExternalUserId = Type.String({
  ...VisibleText(200, "The user's id in your product."),
  title: 'ExternalUserId',
});

/** A JSON object of any fields. {@link checkMetadata} checks its size. */
export const Metadata = Type.Unsafe<Record<string, unknown>>({
  title: 'Metadata',
  type: 'object',
  additionalProperties: true,
  description: `A JSON object of at most ${METADATA_LIMIT} bytes serialized.`,
});

export const NullableMetadata = Type.Unsafe<Record<string, unknown> | null>({
  ...Metadata,
  type: ['object', 'null'],
});

export const IdParams = Type.Object({ id: Uuid });

export const Ok = Type.Object({ ok: Type.Literal(true) }, { title: 'Ok' });

/** `limit` of a page. */
export const Limit = (maximum: number, otherwise: number) =>
  Type.Integer({ minimum: 1, maximum, default: otherwise, description: 'Rows per page.' });

const CURSOR = { description: 'The `next_cursor` of the previous page, unchanged.' };
const NEXT_CURSOR = { description: 'Pass it as `cursor` to get the next page. Null on the last page.' };

/**
 * `cursor` of a list whose cursor is an instant. The document calls it a plain string: a client that parses it as
 * a date loses digits, and rows with them.
 */
export const Cursor = Type.String({ format: 'instant-cursor', ...CURSOR });
export const NextCursor = Nullable(Type.String({ format: 'instant-cursor', ...NEXT_CURSOR }));

/** `cursor` of a list whose cursor is the UUID of a row. A plain string in the document too. */
export const UuidCursor = Type.String({ format: 'uuid-cursor', ...CURSOR });
export const NextUuidCursor = Nullable(Type.String({ format: 'uuid-cursor', ...NEXT_CURSOR }));

/** `cursor` of a list whose cursor is the number of a row. */
export const NumberCursor = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...CURSOR });
export const NextNumberCursor = Nullable(Type.Integer(NEXT_CURSOR));

/** A list of link ids in a query parameter, parsed by `readIdList` of api/id-lists.ts. */
export const LinkIds = (description: string) => Type.String({ format: 'uuid-list', description });

/** The query parameters of a reporting window, resolved by `resolveWindow` of analytics/time-window.ts. */
export const WINDOW_PARAMETERS = {
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description: 'Length of the window in days, back from `to`. 30 by default.',
    }),
  ),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Start of the window, inclusive, before `to`.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'End of the window, exclusive. Now by default.' }),
  ),
};

/** The window that a response covers. */
export const Window = Type.Object(
  {
    from: Instant,
    to: Instant,
    data_from: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Present when the window begins before the data: older clicks are removed by the retention of the workspace.',
      }),
    ),
  },
  { title: 'Window', description: 'The reporting window. `from` is inclusive, `to` exclusive.' },
);

/** The leads of a report. */
export const Leads = Type.Number({
  description: 'First identifies of persons, attributed as orders are. Fractions under `linear` attribution.',
});

/** The figures of a report. */
export const FIGURES = {
  clicks: Type.Integer(),
  visitors: Type.Integer(),
  conversions: Type.Number({ description: 'Fractions under `linear` attribution.' }),
  revenue: Type.Number({ description: "Major units of the workspace's currency." }),
};

export const Figures = Type.Object(FIGURES, { title: 'Figures' });

/** @throws {AppError} `bad_request` when `metadata` is larger than {@link METADATA_LIMIT} */
export function checkMetadata(metadata: Record<string, unknown> | null | undefined): void {
  if (metadata && Buffer.byteLength(JSON.stringify(metadata)) > METADATA_LIMIT) {
    throw badRequest('metadata', `must be at most ${METADATA_LIMIT} bytes serialized`);
  }
}

/** Shown beside a secret in the response of a create. */
export const SecretShown = Type.Optional(
  Type.Literal(false, { description: 'Only in a replay by `Idempotency-Key`, which lacks the secret.' }),
);
