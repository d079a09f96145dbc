import { Type } from 'typebox';
import { CLICK_SOURCES } from '../../core/click-imports/click-sources.ts';
import { DOMAIN_LIMIT } from '../../core/links/domains.ts';
import { Nullable, OneOf, Uuid, VisibleText } from '../schemas.ts';

export const ClickImportQuery = Type.Object({
  from: OneOf([...CLICK_SOURCES], {
    default: 'csv',
    description:
      "Where the rows are from. `csv`: the columns below, also as NDJSON. Others: the service's own export.",
  }),
  import_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Continues an import, so that several calls are one to undo. Left out: a new one.',
    }),
  ),
  link: Type.Optional(VisibleText(2_048, 'Link of rows that name none: its id, slug, or short URL.')),
  domain: Type.Optional(
    VisibleText(DOMAIN_LIMIT, 'Domain of rows on a domain that the workspace does not have.'),
  ),
  content: OneOf(['clicks', 'orders'], {
    default: 'clicks',
    description: 'What the rows are.',
  }),
  dry_run: Type.Boolean({
    default: false,
    description: 'Responds what the import would do, and writes nothing.',
  }),
});

export const ClickImportBody = Type.String({
  description:
    'CSV whose first line names the columns, or NDJSON with the same names: `ts`; `slug`, `short_url` or `link_id`; and any of ' +
    '`country`, `region`, `city`, `device`, `browser`, `os`, `referer`, `user_agent`, `visitor`, `channel`, `utm_source`, ' +
    '`utm_medium`, `utm_campaign`, `utm_term`, `utm_content`, `rule_id`, `variant_id`, `asn`, `ad_network`, ' +
    '`ad_click_param`, `ad_click_id`, `count`. Orders: `ts`, `order_id`, `amount`, `currency`, and any of `visitor`, ' +
    '`email`, `link_id`, `short_url`, `slug`.',
});

const RowError = Type.Object(
  {
    line: Type.Integer({ description: 'Line where the row begins, from 1.' }),
    link: Nullable(Type.String({ description: 'The link that the row names. Null if it is not known.' })),
    field: Nullable(Type.String({ description: 'Name of the column. Null for the row as a whole.' })),
    message: Type.String(),
  },
  { title: 'ClickImportError' },
);

export const ClickImportResult = Type.Object(
  {
    import_id: Nullable({ ...Uuid, description: 'To undo or to continue the import. Null for a dry run.' }),
    dry_run: Type.Boolean({ description: 'Whether nothing was written.' }),
    read: Type.Integer({ description: 'Rows of the body, readable or not.' }),
    created: Type.Integer({ description: 'Rows of which clicks were stored, or an order.' }),
    clicks: Type.Integer({ description: 'Clicks that were stored: a row may have several, or be a count.' }),
    orders: Type.Integer({ description: 'Orders that were stored.' }),
    skipped: Type.Integer({ description: 'Rows that are stored already, or that hold no click.' }),
    failed: Type.Integer({ description: 'Rows with an error.' }),
    unknown_columns: Type.Array(Type.String(), { description: 'Columns that are not taken over.' }),
    errors: Type.Array(RowError, { description: 'The errors of the first thousand rows with one.' }),
  },
  { title: 'ClickImportResult' },
);

const ClickImport = Type.Object(
  {
    id: Uuid,
    source: Type.String({ description: 'Where its rows are from.' }),
    clicks: Type.Integer({ description: 'Clicks that were stored.' }),
    orders: Type.Integer({ description: 'Orders that were stored.' }),
    first_ts: Nullable(Type.String({ format: 'date-time', description: 'Time of its oldest click.' })),
    last_ts: Nullable(Type.String({ format: 'date-time', description: 'Time of its newest click.' })),
    created_at: Type.String({ format: 'date-time' }),
    undone_at: Nullable(
      Type.String({ format: 'date-time', description: 'When it was undone. Null: its clicks are there.' }),
    ),
    removed_at: Nullable(
      Type.String({
        format: 'date-time',
        description: 'When its clicks had left every response. Null although it was undone: they leave soon.',
      }),
    ),
  },
  { title: 'ClickImport' },
);

export const ClickImports = Type.Object({ imports: Type.Array(ClickImport) }, { title: 'ClickImportList' });

export const ClickImportUndone = Type.Object(
  {
    import_id: Uuid,
    clicks: Type.Integer({ description: 'Clicks that were removed, or that will be.' }),
    orders: Type.Integer({ description: 'Orders that were removed.' }),
    complete: Type.Boolean({
      description:
        'False while ClickHouse does not respond: its clicks are removed once it does. No import can start before.',
    }),
  },
  { title: 'ClickImportUndone' },
);
