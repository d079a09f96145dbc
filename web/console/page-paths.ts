/**
 * Where the pages are whose code is loaded when they are opened: paths below `/console` by the file below `pages/` that
 * shows them; the first path that fits counts. The build reads it too, so that the server can name a page's files to the
 * browser before any script asks for them.
 */
export const PAGE_PATHS = {
  'sign-in/welcome-page': '/welcome',
  'live/live-page': '/live',
  'links/links-page': '/links',
  'links/new-link-page': '/links/new',
  'links/import/import-page': '/links/import',
  'links/link-page': '/links/:id',
  'links/edit-link-page': '/links/:id/edit',
  'visitors/visitors-page': '/visitors',
  'visitors/visitor-page': '/visitors/:id',
  'bio-pages/bio-pages-page': '/bio-pages',
  'bio-pages/bio-page-page': '/bio-pages/:id',
  'referrals/referrals-page': '/referrals',
  'webhooks/webhooks-page': '/webhooks',
  'webhooks/webhook-page': '/webhooks/:id',
  'settings/settings-page': '/settings',
  'developers/developers-page': '/settings/developers',
} as const;

/** The paths that a path with parameters (`/links/:id`) stands for. */
export const pathPattern = (path: string) => new RegExp(`^${path.replace(/:[^/]+/g, '[^/]+')}/?$`);
