import { type ArchivedTable, slugHere } from '../archived-table.ts';

const IS_PROVEN = `r.domain = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb -> 'proven')))`;
const CHECKED_HERE = 'this deployment looks the record up itself';

/** Links, where they are, and bio pages. */
export const LINK_TABLES: readonly ArchivedTable[] = [
  { name: 'folders', order: 'id' },
  { name: 'utm_templates', order: 'id' },
  { name: 'destinations', order: 'id' },
  {
    name: 'domains',
    order: 'number',
    numbers: { number: 'domains' },
    without: { last_checked_at: CHECKED_HERE, missing_since: CHECKED_HERE, problem: CHECKED_HERE },
    read: {
      status: `CASE WHEN ${IS_PROVEN} THEN 'verified' ELSE 'pending' END`,
      is_default: `r.is_default AND ${IS_PROVEN}`,
      verified_at: `CASE WHEN ${IS_PROVEN} THEN coalesce(r.verified_at, now()) END`,
    },
  },
  {
    name: 'links',
    order: 'id',
    numbers: { domain_number: 'domains' },
    // Permits are leased by streams of the deployment.
    written: {
      used_elsewhere:
        't.used_elsewhere + coalesce((SELECT sum(used) FROM link_leases WHERE link_id = t.id), 0)::bigint',
    },
    read: {
      slug: slugHere('r.id', 'r.slug'),
      extra_query: `CASE WHEN r.channel = 'referral' AND r.extra_query IS NOT NULL AND $2::jsonb -> 'slugs' ? r.id::text
        THEN 'ref=' || ${slugHere('r.id', 'r.slug')} ELSE r.extra_query END`,
    },
  },
  { name: 'link_qr_styles', order: 'link_id', atOnce: 50 },
  { name: 'link_comments', order: 'id' },
  {
    name: 'slugs',
    order: 'domain_number, slug',
    numbers: { domain_number: 'domains' },
    read: {
      slug: `CASE WHEN r.domain_number = 0
        THEN coalesce($2::jsonb #>> ARRAY['keys', r.target_id || '/' || r.slug], r.slug) ELSE r.slug END`,
    },
    stored: `NOT (r.domain_number = 0 AND r.kind IN ('alias', 'prefix') AND $2::jsonb -> 'dropped' ? r.slug)`,
  },
  { name: 'pictures', order: 'name', atOnce: 4 },
  { name: 'bio_pages', order: 'id', read: { slug: slugHere('r.id', 'r.slug') } },
  { name: 'bio_button_links', order: 'link_id' },
  { name: 'bio_buttons', order: 'page_id, id' },
];
