/** What the API answers about bio pages. */

export type Theme = {
  canvasMode: string;
  canvasValue: string;
  cardMode: string;
  cardBg: string;
  textColor: string;
  buttonStyle: string;
  buttonColor: string;
  buttonTextColor: string;
  buttonRadius: string;
  buttonShadow: string;
  buttonShadowColor: string;
  font: string;
  footerImage: string | null;
};

export type BioButton = {
  id: string;
  type: 'link' | 'section';
  label: string;
  url: string | null;
  emoji: string | null;
  image_url: string | null;
  tracked_link_id: string | null;
  short_url: string | null;
};

export type SocialLink = { platform: string; url: string };

export type BioPage = {
  id: string;
  slug: string;
  url: string;
  title: string;
  bio: string;
  avatar_url: string | null;
  theme: Theme;
  links: BioButton[];
  social_links: SocialLink[];
  is_published: boolean;
  show_branding: boolean;
  metadata: Record<string, unknown> | null;
  created_at: string;
  updated_at: string;
};

export type BioPageList = { bio_pages: BioPage[]; next_cursor: string | null };

export type ButtonFigures = {
  id: string;
  clicks: number;
  visitors: number;
  conversions: number;
  revenue: number;
};

export type PageStats = { totals: Omit<ButtonFigures, 'id'>; links: ButtonFigures[] };
