import { shortUrlOf } from '../../core/links/short-urls.ts';
import { formatInstantShort, parseInstant } from '../../core/time/timestamps.ts';
import type { Link } from './links.ts';

/** Returns a link as the API and webhooks show it, without its password. */
export function toRecord(link: Link, shortUrl: string) {
  return {
    id: link.id,
    destination_id: link.destination_id,
    name: link.name,
    domain: link.domain,
    slug: link.slug,
    short_url: shortUrlOf(shortUrl, link),
    destination: link.destination_url,
    channel: link.channel,
    smart: link.channel === null,
    external: link.external,
    external_id: link.external_id,
    metadata: link.metadata,
    utm_source: link.utm_source,
    utm_medium: link.utm_medium,
    utm_campaign: link.utm_campaign,
    tags: link.tags,
    folder_id: link.folder_id,
    targeting: link.targeting,
    rules: link.rules,
    split: link.split,
    split_ends_at: link.split_ends_at && shortened(link.split_ends_at),
    split_goal: link.split_goal,
    split_winner: link.split_winner,
    utm_term: link.utm_term,
    utm_content: link.utm_content,
    redirect_status: link.redirect_status,
    forward_query: link.forward_query,
    forward_path: link.forward_path,
    append_utm: link.append_utm,
    append_visitor: link.append_visitor,
    starts_at: link.starts_at && shortened(link.starts_at),
    archived: link.archived,
    expires_at: link.expires_at && shortened(link.expires_at),
    max_clicks: link.max_clicks,
    expired_redirect_url: link.expired_redirect_url,
    password_protected: link.password_hash !== null,
    retargeting: link.retargeting,
    preview: link.preview,
    created_at: link.created_at,
    updated_at: link.updated_at,
  };
}

/** Returns `…:00.000000Z` in its likely sent form: `…:00.000Z`. */
function shortened(instant: string): string {
  const nanos = parseInstant(instant);
  return nanos === null ? instant : formatInstantShort(nanos);
}
