// Browsers run this file too.
/** Kinds of sources of visitors. `app`: an app that no other kind has; `site`: any other page; `direct`: no referer. */
export const SOURCE_KINDS = [
  'search',
  'ai',
  'social',
  'mail',
  'video',
  'code',
  'app',
  'site',
  'direct',
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];
