import type { ResponseOf } from './responses.ts';

export type LinkRecord = ResponseOf<'/links/{id}'>;
/** `GET /links?view=records` */
export type LinkRecords = Extract<ResponseOf<'/links'>, { next_cursor: unknown }>;
/** `GET /links` without `view` */
export type LinkReport = Exclude<ResponseOf<'/links'>, LinkRecords>;

export const PIXEL_PLATFORMS = ['facebook', 'google', 'tiktok', 'linkedin', 'x', 'pinterest'] as const;
export type PixelPlatform = (typeof PIXEL_PLATFORMS)[number];

export type FoundLinks = ResponseOf<'/links/search'>;
export type LinkStatus = FoundLinks['links'][number]['status'];

export const STATUS_NAMES: Record<LinkStatus, string> = {
  active: 'Active',
  expired: 'Expired',
  used_up: 'Used up',
};

export type CreatedLinks = ResponseOf<'/links', 'post'>;
export type Folders = ResponseOf<'/folders'>;
export type Tags = ResponseOf<'/links/tags'>;
