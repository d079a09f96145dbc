import { uuidv7 } from '../../core/ids.ts';
import type { LinkTableRow } from '../../sql/links/link-table.ts';

const PLAIN: Omit<LinkTableRow, 'id' | 'slug'> = {
  workspace_id: uuidv7(),
  domain_number: 0,
  destination_url: 'https://example.com/ä?x=1#y',
  channel: 'facebook',
  utm_source: 'facebook',
  utm_medium: 'social',
  utm_campaign: 'Größe & mehr',
  extra_query: null,
  targeting: null,
  rules: null,
  split: null,
  split_winner: null,
  expires_at: null,
  max_clicks: null,
  expired_redirect_url: null,
  password_hash: null,
  retargeting: null,
  preview: null,
  redirect_status: 302,
  forward_query: true,
  forward_path: false,
  append_utm: true,
  append_visitor: true,
  utm_term: null,
  utm_content: null,
  starts_at: null,
  is_blocked: false,
};

/** Returns a link in the form in which the redirect reads it from PostgreSQL. */
export function linkRow(slug: string, fields: Partial<LinkTableRow> = {}): LinkTableRow {
  return { ...PLAIN, id: uuidv7(), slug, ...fields };
}
