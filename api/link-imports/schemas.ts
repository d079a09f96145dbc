import { Type } from 'typebox';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { Body, Nullable, OneOf } from '../schemas.ts';

/** Rows of one call: as many as `POST /links/bulk` takes. */
export const IMPORT_LIMIT = 1_000;

export const ImportBody = Body(
  {
    text: Type.String({
      minLength: 1,
      description: `CSV whose first line names the columns, or JSON. At most ${IMPORT_LIMIT} rows.`,
    }),
    channel: OneOf([...CREATABLE_CHANNELS, 'x', 'smart'], {
      default: 'other',
      description: 'Channel of rows that name none. `smart` makes them Smart Links.',
    }),
    append_utm: Type.Boolean({
      default: false,
      description: 'Whether UTM parameters are added to destinations of rows that name none.',
    }),
  },
  { title: 'ImportLinks' },
);

const ImportError = Type.Object(
  {
    line: Type.Integer({ description: 'Line of the text where the row begins, from 1.' }),
    column: Nullable(
      Type.String({ description: 'Name of the column in the text. Null for the row as a whole.' }),
    ),
    message: Type.String(),
  },
  { title: 'ImportError' },
);

export const Imported = Type.Object(
  {
    format: Nullable(
      Type.String({
        description: 'The recognized format, such as `Hoplog`, `Bitly` or `Dub`. Null without rows.',
      }),
    ),
    unknown_columns: Type.Array(Type.String(), {
      description: "In Hoplog's own format: columns that are not fields of a link. They are ignored.",
    }),
    read: Type.Integer({ description: 'Rows of the text, readable or not.' }),
    created: Type.Integer({ description: 'Links created.' }),
    skipped: Type.Integer({ description: 'Rows whose link already exists.' }),
    errors: Type.Array(ImportError, {
      description: 'Each problem of each row that created no link, by line.',
    }),
  },
  { title: 'ImportResult' },
);
