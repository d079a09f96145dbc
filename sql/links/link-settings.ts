import type { LinkPreview } from '../../core/links/preview.ts';
import type { LinkRule, SplitGoal, SplitVariant, Targeting } from '../../core/links/rules/types.ts';

export type Retargeting = Partial<
  Record<'facebook' | 'google' | 'tiktok' | 'linkedin' | 'x' | 'pinterest', string>
>;

export const REDIRECT_STATUSES = [302, 301, 307, 308] as const;
export type RedirectStatus = (typeof REDIRECT_STATUSES)[number];

/** Settings of a link that a new link of its campaign inherits. Null: not set. */
export type LinkSettings = {
  utm_campaign: string | null;
  targeting: Targeting | null;
  rules: LinkRule[] | null;
  split: SplitVariant[] | null;
  /** When the winner of the split is decided. ISO 8601. */
  split_ends_at: string | null;
  split_goal: SplitGoal | null;
  /** ISO 8601. */
  expires_at: string | null;
  max_clicks: number | null;
  expired_redirect_url: string | null;
  password_hash: string | null;
  retargeting: Retargeting | null;
  /** The card that link-preview bots get. */
  preview: LinkPreview | null;
  redirect_status: RedirectStatus;
  /** Whether the visitor's query is passed on. */
  forward_query: boolean;
  /** Whether the path behind the slug is passed on. */
  forward_path: boolean;
  append_utm: boolean;
  /** Whether `_vid` is added. */
  append_visitor: boolean;
  utm_term: string | null;
  utm_content: string | null;
};

/** The settings of a link that has none. */
export const NO_SETTINGS: Readonly<LinkSettings> = Object.freeze({
  utm_campaign: null,
  targeting: null,
  rules: null,
  split: null,
  split_ends_at: null,
  split_goal: null,
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
});

/** Returns the settings among the fields of a link. */
export function settingsOf(link: LinkSettings): LinkSettings {
  const names = Object.keys(NO_SETTINGS) as (keyof LinkSettings)[];
  return Object.fromEntries(names.map((name) => [name, link[name]])) as LinkSettings;
}

/** The settings' columns and their types. */
export const SETTING_COLUMNS = {
  utm_campaign: 'text',
  targeting: 'jsonb',
  rules: 'jsonb',
  split: 'jsonb',
  split_ends_at: 'timestamptz',
  split_goal: 'text',
  expires_at: 'timestamptz',
  max_clicks: 'integer',
  expired_redirect_url: 'text',
  password_hash: 'text',
  retargeting: 'jsonb',
  preview: 'jsonb',
  redirect_status: 'smallint',
  forward_query: 'boolean',
  forward_path: 'boolean',
  append_utm: 'boolean',
  append_visitor: 'boolean',
  utm_term: 'text',
  utm_content: 'text',
} as const satisfies Record<keyof LinkSettings, string>;
