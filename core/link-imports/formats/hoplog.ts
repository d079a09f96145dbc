import type { CreateRow } from '../create-row.ts';
import { parsedJson } from '../parsed-json.ts';
import { columnKey, isYes, type SourceRow } from '../source-row.ts';
import { listOf } from '../values.ts';
import type { Format } from './format.ts';

/** Converts a column's text to the field's value. Unreadable text stays text, which the create's schema rejects. */
type Reader = (text: string, column: string) => unknown;

const asText: Reader = (text) => text;
const asList: Reader = (text) => listOf(text);
const asInteger: Reader = (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
const asJson: Reader = (text, column) => parsedJson(text, column);
const asBoolean: Reader = (text) => {
  if (isYes(text)) return true;
  return /^(false|f|no|n|0)$/i.test(text) ? false : text;
};

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
  matches: (row) => 'destination_url' in row.values || 'destination_id' in row.values,
  read: (row) => [{ body: bodyOf(row), columnOf: {} }],
};

/** Returns whether a create reads the column. */
function isHoplogColumn(name: string): boolean {
  return Object.hasOwn(READERS, name) || PART.test(name);
}

/** Returns the text of a cell. */
function textIn(value: string, { from }: SourceRow): string {
  const text = value.trim();
  return from === 'csv' && GUARDED.test(text) ? text.slice(1) : text;
}

function bodyOf(row: SourceRow): CreateRow['body'] {
  // Null is the deployment's own domain.
  const body: Record<string, unknown> = row.values.domain === null ? { domain: null } : {};
  for (const [column, value] of Object.entries(row.values)) {
    // Read by the reader of all formats, see `meaning/`.
    if (isHoplogColumn(column)) row.columns.get(columnKey(column));
    if (!isHoplogColumn(column) || column === 'password' || column === 'domain') continue;
    if (typeof value !== 'string') {
      if (value !== null) body[column] = value;
      continue;
    }
    const text = textIn(value, row);
    if (text === '') continue;
    const [, field, part] = PART.exec(column) ?? [];
    if (field && part) {
      const value = /^image_(width|height)$/.test(part) ? asInteger(text, column) : text;
      body[field] = { ...(body[field] as object | undefined), [part]: value };
    } else body[column] = READERS[column]?.(text, column);
  }
  return body;
}
