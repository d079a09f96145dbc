import type { CreateRow } from '../create-row.ts';
import { parsedJson } from '../parsed-json.ts';
import { columnKey, type SourceRow, yesNo } from '../source-row.ts';
import { listOf } from '../values.ts';
import type { Format } from './format.ts';

/** Converts a column's text to the field's value. Unreadable text stays text, which the create's schema rejects. */
type Reader = (text: string, column: string) => unknown;

const asText: Reader = (text) => text;
const asList: Reader = (text) => listOf(text);
const asInteger: Reader = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
const asJson: Reader = (text, column) => parsedJson(text, column);
const asBoolean: Reader = (text) => yesNo(text) ?? text;

const READERS: Readonly<Record<string, Reader>> = {
  destination_url: asText,
  name: asText,
  channel: asText,
  channels: asList,
  smart: asBoolean,
  domain: asText,
  slug: asText,
  external_id: asText,
  metadata: asJson,
  destination_id: asText,
  external: asBoolean,
  tags: asList,
  folder_id: asText,
  utm_campaign: asText,
  utm_source: asText,
  utm_medium: asText,
  utm_term: asText,
  utm_content: asText,
  targeting: asJson,
  rules: asJson,
  split: asJson,
  split_ends_at: asText,
  split_goal: asText,
  redirect_status: asInteger,
  forward_query: asBoolean,
  forward_path: asBoolean,
  append_utm: asBoolean,
  append_visitor: asBoolean,
  starts_at: asText,
  archived: asBoolean,
  expires_at: asText,
  max_clicks: asInteger,
  expired_redirect_url: asText,
  password: asText,
  retargeting: asJson,
  preview: asJson,
};

/** Fields that the reader of all formats reads, see `meaning/`. */
const READ_FOR_ALL = ['password', 'domain', 'expires_at', 'starts_at'];
/** The fields by {@link columnKey}: `Max clicks` and `maxClicks` are `max_clicks`. */
const FIELDS = new Map(Object.keys(READERS).map((field) => [columnKey(field), field]));
/** `targeting.mobile`, `retargeting.facebook`, `preview.title`, …: a field of a field. */
const PART = /^(targeting|retargeting|preview)\.([a-z_]+)$/;

/** Text with an apostrophe in front, by which the console's exports keep spreadsheets from running a formula. */
const GUARDED = /^'+[=+\-@\t\r]/;

/**
 * Hoplog. Columns are the fields of the create body (`POST /links`); an empty cell is a missing field. Objects of
 * JSON are create bodies.
 */
export const hoplog: Format = {
  name: 'Hoplog',
  matches: ({ values }) => Object.keys(values).some((name) => /^destination_(?:url|id)$/i.test(name.trim())),
  read: (row) => [{ body: bodyOf(row), columnOf: columnsOf(row) }],
};

/** Returns the field of a create that a column means, such as `slug` or `preview.image_url`; null: none. */
function fieldOf(name: string): string | null {
  const part = name
    .trim()
    .replaceAll(/([a-z])(?=[A-Z])|[\s-]+/g, '$1_')
    .toLowerCase();
  return FIELDS.get(columnKey(name)) ?? (PART.test(part) ? part : null);
}

function columnsOf(row: SourceRow): CreateRow['columnOf'] {
  return Object.fromEntries(
    Object.keys(row.values).flatMap((name) => {
      const field = fieldOf(name);
      return field === null ? [] : [[field, name]];
    }),
  );
}

/** Returns the text of a cell. */
function textIn(value: string, { from }: SourceRow): string {
  const text = value.trim();
  return from === 'csv' && GUARDED.test(text) ? text.slice(1) : text;
}

function bodyOf(row: SourceRow): CreateRow['body'] {
  // Null is the deployment's own domain.
  const body: Record<string, unknown> = row.values.domain === null ? { domain: null } : {};
  for (const [key, { name: column, value }] of row.columns) {
    const name = fieldOf(column);
    if (name === null) continue;
    row.columns.get(key);
    if (READ_FOR_ALL.includes(name)) continue;
    if (typeof value !== 'string') {
      if (value !== null) body[name] = value;
      continue;
    }
    const text = textIn(value, row);
    if (text === '') continue;
    const [, field, part] = PART.exec(name) ?? [];
    if (field && part) {
      const value = /^image_(width|height)$/.test(part) ? asInteger(text, column) : text;
      body[field] = { ...(body[field] as object | undefined), [part]: value };
    } else body[name] = READERS[name]?.(text, column);
  }
  return body;
}
