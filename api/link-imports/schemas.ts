import { Type } from 'typebox';
import { CREATABLE_CHANNELS } from '../../core/enrich/channels.ts';
import { UNPROVEN_POLICIES } from '../../core/link-imports/create-row.ts';
import { LINK_SOURCES } from '../../core/link-imports/formats/known.ts';
import { DOMAIN_LIMIT } from '../../core/links/domains.ts';
import { Body, Nullable, OneOf } from '../schemas.ts';

/** Rows of one call: as many as `POST /links/bulk` takes. */
export const IMPORT_LIMIT = 1_000;

export const ImportBody = Body(
  {
    text: Type.String({
      minLength: 1,
      description: `CSV whose first line names the columns, or JSON. At most ${IMPORT_LIMIT} rows.`,
    }),
    from: Type.Optional(
      OneOf(LINK_SOURCES, {
        description:
          'Format of the text; a text in another one is refused. Left out: it is recognized by its columns.',
      }),
    ),
    channel: OneOf([...CREATABLE_CHANNELS, 'x', 'smart'], {
      default: 'other',
      description: 'Channel of rows that name none. `smart` makes them Smart Links.',
    }),
    append_utm: Type.Boolean({
      default: false,
      description: 'Whether UTM parameters are added to destinations of rows that name none.',
    }),
    domain: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: DOMAIN_LIMIT,
          description:
            "Domain of rows that name none: a verified one of the workspace, or null, the deployment's own. Left out: the default one.",
        }),
      ),
    ),
    dry_run: Type.Boolean({
      default: false,
      description: 'Responds what the import would do, and writes nothing.',
    }),
    earlier_links: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 100_000_000,
      description:
        'With `dry_run`: links that earlier calls with parts of the same file would make. They count toward the limit of the plan.',
    }),
    unproven: OneOf([...UNPROVEN_POLICIES], {
      default: 'refuse',
      description:
        'What becomes of rows on domains that the workspace has not verified. `refuse`: each is an error. `keep`: the domain is added, and its links answer once it is verified. `move`: the links are made on `domain`.',
    }),
  },
  { title: 'ImportLinks' },
);

const ImportError = Type.Object(
  {
    line: Type.Integer({ description: 'Line of the text where the row begins, from 1.' }),
    index: Type.Integer({ description: 'Number of the row in the text, from 0.' }),
    link: Nullable(Type.String({ description: 'The link: its short URL or its slug, as the text has it.' })),
    field: Nullable(
      Type.String({ description: 'Name of the column or key in the text. Null for the row as a whole.' }),
    ),
    message: Type.String(),
  },
  { title: 'ImportError' },
);

export const Imported = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'Whether nothing was written.' }),
    format: Nullable(
      Type.String({
        description: 'The recognized format, such as `Hoplog`, `Bitly` or `Dub`. Null without rows.',
      }),
    ),
    unknown_columns: Type.Array(Type.String(), {
      description:
        'Columns and keys that have no counterpart in a link here, of the rows that gave a link. They are not taken over.',
    }),
    read: Type.Integer({ description: 'Rows of the text, readable or not.' }),
    created: Type.Integer({ description: 'Links created.' }),
    waiting: Type.Integer({ description: 'Those of them that answer once their domain is verified.' }),
    skipped: Type.Integer({ description: 'Rows whose link already exists.' }),
    errors: Type.Array(ImportError, {
      description: 'Each problem of each row that created no link, by line.',
    }),
  },
  { title: 'ImportResult' },
);
