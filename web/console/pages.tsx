import {
  IconAddressBook,
  IconChartBar,
  IconCode,
  IconGift,
  IconLayoutDashboard,
  IconLink,
  IconMail,
  IconPlugConnected,
  IconServer,
  IconSettings,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { PAGE_PATHS, pathPattern } from './page-paths.ts';
import * as overviewPage from './pages/overview/overview-page.tsx';
import { type LazyPage, lazyPage, readyPage } from './shell/lazy-page.tsx';

/** Groups of the navigation, in order. */
export const GROUPS = ['Measure', 'Links', 'Programs', 'Connect', 'Settings'] as const;
type Group = (typeof GROUPS)[number];

/** A page of the console: its path below `/console`, and its lazily loaded code. */
export type Page = LazyPage & {
  path: string;
  title: string;
  /** Shown in the navigation; pages without an icon are reached from others. */
  icon?: ComponentType<{ size?: number | string; stroke?: number | string }>;
  /** Where the navigation has it. */
  group?: Group;
  /** The guide about it, below `/docs`. */
  guide?: string;
};

/**
 * Every signed-in page, in navigation order; a new one gets its path in `page-paths.ts`. The overview is the usual
 * first page, so its code is in the first script.
 */
export const PAGES: Page[] = [
  {
    path: '/',
    title: 'Overview',
    icon: IconLayoutDashboard,
    group: 'Measure',
    guide: 'console#the-dashboard',
    ...readyPage(overviewPage),
  },
  {
    path: PAGE_PATHS['live/live-page'],
    title: 'Live',
    icon: IconChartBar,
    group: 'Measure',
    guide: 'console#live',
    ...lazyPage(() => import('./pages/live/live-page.tsx')),
  },
  {
    path: PAGE_PATHS['visitors/visitors-page'],
    title: 'Visitors',
    icon: IconAddressBook,
    group: 'Measure',
    guide: 'console#visitors',
    ...lazyPage(() => import('./pages/visitors/visitors-page.tsx')),
  },
  {
    path: PAGE_PATHS['visitors/visitor-page'],
    title: 'Visitor',
    guide: 'console#visitors',
    ...lazyPage(() => import('./pages/visitors/visitor-page.tsx')),
  },
  {
    path: PAGE_PATHS['reports/reports-page'],
    title: 'Reports',
    icon: IconMail,
    group: 'Measure',
    guide: 'reports',
    ...lazyPage(() => import('./pages/reports/reports-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/links-page'],
    title: 'Links',
    icon: IconLink,
    group: 'Links',
    guide: 'links',
    ...lazyPage(() => import('./pages/links/links-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/new-link-page'],
    title: 'New link',
    guide: 'links',
    ...lazyPage(() => import('./pages/links/new-link-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/import/import-page'],
    title: 'Import links',
    guide: 'import',
    ...lazyPage(() => import('./pages/links/import/import-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/click-import/click-import-page'],
    title: 'Import click history',
    ...lazyPage(() => import('./pages/links/click-import/click-import-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/link-page'],
    title: 'Link',
    guide: 'links',
    ...lazyPage(() => import('./pages/links/link-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/edit-link-page'],
    title: 'Edit link',
    guide: 'links',
    ...lazyPage(() => import('./pages/links/edit-link-page.tsx')),
  },
  {
    path: PAGE_PATHS['domains/domains-page'],
    title: 'Domains',
    icon: IconServer,
    group: 'Links',
    guide: 'domains',
    ...lazyPage(() => import('./pages/domains/domains-page.tsx')),
  },
  {
    path: PAGE_PATHS['bio-pages/bio-pages-page'],
    title: 'Bio pages',
    icon: IconWorld,
    group: 'Links',
    guide: 'bio-pages',
    ...lazyPage(() => import('./pages/bio-pages/bio-pages-page.tsx')),
  },
  {
    path: PAGE_PATHS['bio-pages/bio-page-page'],
    title: 'Bio page',
    guide: 'bio-pages',
    ...lazyPage(() => import('./pages/bio-pages/bio-page-page.tsx')),
  },
  {
    path: PAGE_PATHS['referrals/referrals-page'],
    title: 'Referrals',
    icon: IconGift,
    group: 'Programs',
    guide: 'referrals',
    ...lazyPage(() => import('./pages/referrals/referrals-page.tsx')),
  },
  {
    path: PAGE_PATHS['referrals/import/referral-import-page'],
    title: 'Import referrers',
    guide: 'moving-referrals',
    ...lazyPage(() => import('./pages/referrals/import/referral-import-page.tsx')),
  },
  {
    path: PAGE_PATHS['connections/connections-page'],
    title: 'Connections',
    icon: IconPlugConnected,
    group: 'Connect',
    guide: 'connections',
    ...lazyPage(() => import('./pages/connections/connections-page.tsx')),
  },
  {
    path: PAGE_PATHS['connections/connection-page'],
    title: 'Connection',
    guide: 'connections',
    ...lazyPage(() => import('./pages/connections/connection-page.tsx')),
  },
  {
    path: PAGE_PATHS['webhooks/webhooks-page'],
    title: 'Webhooks',
    icon: IconWebhook,
    group: 'Connect',
    guide: 'webhooks',
    ...lazyPage(() => import('./pages/webhooks/webhooks-page.tsx')),
  },
  {
    path: PAGE_PATHS['webhooks/webhook-page'],
    title: 'Webhook',
    guide: 'webhooks',
    ...lazyPage(() => import('./pages/webhooks/webhook-page.tsx')),
  },
  {
    path: PAGE_PATHS['settings/settings-page'],
    title: 'Settings',
    icon: IconSettings,
    group: 'Settings',
    guide: 'console#settings',
    ...lazyPage(() => import('./pages/settings/settings-page.tsx')),
  },
  {
    path: PAGE_PATHS['developers/developers-page'],
    title: 'Developers',
    icon: IconCode,
    group: 'Settings',
    guide: 'quickstart',
    ...lazyPage(() => import('./pages/developers/developers-page.tsx')),
  },
  {
    path: PAGE_PATHS['problems/problems-page'],
    title: 'Problems',
    guide: 'console#problems',
    ...lazyPage(() => import('./pages/problems/problems-page.tsx')),
  },
  {
    path: PAGE_PATHS['sign-in/add-workspace-page'],
    title: 'Sign in to another workspace',
    ...lazyPage(() => import('./pages/sign-in/add-workspace-page.tsx')),
  },
  {
    path: PAGE_PATHS['parts/parts-page'],
    title: 'Parts',
    ...lazyPage(() => import('./pages/parts/parts-page.tsx')),
  },
];

export const SIGN_IN_PAGE = lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'));

/** Pages that need no session, by path: those of links in mails, and of a forgotten password. */
const OPEN_PAGES: Readonly<Record<string, LazyPage>> = {
  [PAGE_PATHS['sign-in/welcome-page']]: lazyPage(() => import('./pages/sign-in/welcome-page.tsx')),
  [PAGE_PATHS['sign-in/forgot-password-page']]: lazyPage(
    () => import('./pages/sign-in/forgot-password-page.tsx'),
  ),
  [PAGE_PATHS['sign-in/reset-password-page']]: lazyPage(
    () => import('./pages/sign-in/reset-password-page.tsx'),
  ),
  [PAGE_PATHS['sign-in/confirm-mail-page']]: lazyPage(() => import('./pages/sign-in/confirm-mail-page.tsx')),
  [PAGE_PATHS['sign-in/unsubscribe-page']]: lazyPage(() => import('./pages/sign-in/unsubscribe-page.tsx')),
};

/** The page without a session at a path below `/console`; undefined if there is none. */
export const openPageAt = (pathname: string): LazyPage | undefined =>
  Object.hasOwn(OPEN_PAGES, pathname) ? OPEN_PAGES[pathname] : undefined;

/** The page of shared dashboards: outside `/console`, without a session. */
export const SHARED_PAGE = lazyPage(() => import('./pages/shared/shared-page.tsx'));

/** The page at a path below `/console`; undefined if there is none. */
export function pageAt(pathname: string): LazyPage | undefined {
  return openPageAt(pathname) ?? PAGES.find(({ path }) => pathPattern(path).test(pathname));
}
