import { Type } from 'typebox';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { Body, Nullable, OneOf } from '../schemas.ts';

/** Rows of one call: as many as `POST /links/bulk` takes. */
export const IMPORT_LIMIT = 1_000;

export const ImportBody = Body({
  text: Type.String({
    minLength: 1,
    description: `CSV whose first line names the columns, or JSON; at most ${IMPORT_LIMIT} rows.`,
  }),
  channel: OneOf([...CREATABLE_CHANNELS, 'x', 'smart'], {
    default: 'other',
    description: 'Of rows that name none; `smart`: they become Smart Links.',
  }),
});

export const Imported = Type.Object({
  format: Nullable(
    Type.String({ description: 'Whose export it is: `Hoplog`, `Bitly`, `Dub`… Null: there was no row.' }),
  ),
  unknown_columns: Type.Array(Type.String(), {
    description: 'In our own format: columns that are no field of a link, which are passed over.',
  }),
  created: Type.Integer({ description: 'Links that were made.' }),
  skipped: Type.Integer({ description: 'Rows whose link was there already.' }),
  errors: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'Line of the text on which the row begins, from 1.' }),
      column: Nullable(Type.String({ description: 'As the text calls it; null: the row as a whole.' })),
      message: Type.String(),
    }),
    { description: 'Rows that made no link, by line.' },
  ),
});
