/** What the API answers about links, as far as these pages use it. */

export type LinkRecord = {
  id: string;
  destination_id: string;
  name: string;
  slug: string;
  short_url: string;
  destination: string;
  /** Null: a Smart Link. */
  channel: string | null;
  smart: boolean;
  external: boolean;
  external_id: string | null;
  metadata: Record<string, unknown> | null;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  tags: string[];
  folder_id: string | null;
  targeting: { mobile?: string; desktop?: string } | null;
  expires_at: string | null;
  max_clicks: number | null;
  expired_redirect_url: string | null;
  password_protected: boolean;
  retargeting: Partial<Record<PixelPlatform, string>> | null;
  created_at: string;
  updated_at: string;
};

export const PIXEL_PLATFORMS = ['facebook', 'google', 'tiktok', 'linkedin', 'x', 'pinterest'] as const;
export type PixelPlatform = (typeof PIXEL_PLATFORMS)[number];

export type LinkStatus = 'active' | 'expired' | 'used_up';

export const STATUS_NAMES: Record<LinkStatus, string> = {
  active: 'Active',
  expired: 'Expired',
  used_up: 'Used up',
};

export type LinkFigures = { clicks: number; visitors: number; conversions: number; revenue: number };

/** `GET /links/search` */
export type FoundLinks = {
  total: number;
  links: { link: LinkRecord; status: LinkStatus; figures: LinkFigures | null }[];
};

/** `POST /links` */
export type CreatedLinks = { destination_id: string; links: LinkRecord[] };

/** `GET /folders` */
export type Folders = { folders: { id: string; name: string }[] };

/** `GET /links/tags` */
export type Tags = { tags: { tag: string; links: number }[] };
