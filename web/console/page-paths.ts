/**
 * Paths below `/console` of lazily loaded pages, by file below `pages/`; the first match counts. The build reads it
 * too, so that the server can name a page's files in its HTML.
 */
export const PAGE_PATHS = {
  'sign-in/welcome-page': '/welcome',
  'sign-in/forgot-password-page': '/forgot-password',
  'sign-in/reset-password-page': '/reset-password',
  'sign-in/unsubscribe-page': '/unsubscribe',
  'sign-in/confirm-mail-page': '/confirm-mail',
  'shared/shared-page': '/shared',
  'sign-in/add-workspace-page': '/add-workspace',
  'problems/problems-page': '/problems',
  'live/live-page': '/live',
  'reports/reports-page': '/reports',
  'links/links-page': '/links',
  'links/new-link-page': '/links/new',
  'links/import/import-page': '/links/import',
  'links/click-import/click-import-page': '/links/import/clicks',
  'links/link-page': '/links/:id',
  'links/edit-link-page': '/links/:id/edit',
  'domains/domains-page': '/domains',
  'visitors/visitors-page': '/visitors',
  'visitors/visitor-page': '/visitors/:id',
  'bio-pages/bio-pages-page': '/bio-pages',
  'bio-pages/bio-page-page': '/bio-pages/:id',
  'referrals/referrals-page': '/referrals',
  'referrals/import/referral-import-page': '/referrals/import',
  'connections/connections-page': '/connections',
  'connections/connection-page': '/connections/:id',
  'webhooks/webhooks-page': '/webhooks',
  'webhooks/webhook-page': '/webhooks/:id',
  'settings/settings-page': '/settings',
  'developers/developers-page': '/settings/developers',
  'parts/parts-page': '/parts',
} as const;

/** Pattern of a path with parameters (`/links/:id`). */
export const pathPattern = (path: string) => new RegExp(`^${path.replace(/:[^/]+/g, '[^/]+')}/?$`);
