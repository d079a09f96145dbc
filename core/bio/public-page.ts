import type { Language } from '../languages/languages.ts';
import type { Theme } from './theme.ts';

export const SOCIAL_PLATFORMS = [
  'instagram',
  'tiktok',
  'x',
  'youtube',
  'spotify',
  'apple-music',
  'facebook',
  'linkedin',
  'github',
  'twitch',
  'discord',
  'email',
] as const;

export type SocialPlatform = (typeof SOCIAL_PLATFORMS)[number];

export type SocialLink = { platform: SocialPlatform; url: string };

/** A button or a heading as visitors see it. */
export type PublicButton = {
  type: 'link' | 'section';
  label: string;
  url: string | null;
  /** Slug of its short link; null when the button leads straight to its URL. */
  slug: string | null;
  /** Domain of its short link; null: the deployment's own. */
  domain: string | null;
  emoji: string | null;
  image_url: string | null;
};

/** A published bio page: all that its public HTML contains. */
export type PublicPage = {
  title: string;
  bio: string;
  avatar_url: string | null;
  /** Pixels; null: not known. */
  avatar_width: number | null;
  avatar_height: number | null;
  theme: Theme;
  show_branding: boolean;
  /** Null: that of the workspace, or else the visitor's. */
  language: Language | null;
  social_links: SocialLink[];
  buttons: PublicButton[];
};
