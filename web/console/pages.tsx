import {
  IconAddressBook,
  IconChartBar,
  IconCode,
  IconGift,
  IconLayoutDashboard,
  IconLink,
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

/** A page of the console: its path below `/console`, and its lazily loaded code. */
export type Page = LazyPage & {
  path: string;
  title: string;
  /** Shown in the navigation; pages without an icon are reached from others. */
  icon?: ComponentType<{ size?: number | string; stroke?: number | string }>;
};

/**
 * Every signed-in page, in navigation order; a new one gets its path in `page-paths.ts`. The overview is the usual first
 * page, so its code is in the first script.
 */
export const PAGES: Page[] = [
  {
    path: '/',
    title: 'Overview',
    icon: IconLayoutDashboard,
    ...readyPage(overviewPage),
  },
  {
    path: PAGE_PATHS['sign-in/add-workspace-page'],
    title: 'Sign in to another workspace',
    ...lazyPage(() => import('./pages/sign-in/add-workspace-page.tsx')),
  },
  {
    path: PAGE_PATHS['problems/problems-page'],
    title: 'Problems',
    ...lazyPage(() => import('./pages/problems/problems-page.tsx')),
  },
  {
    path: PAGE_PATHS['live/live-page'],
    title: 'Live',
    icon: IconChartBar,
    ...lazyPage(() => import('./pages/live/live-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/links-page'],
    title: 'Links',
    icon: IconLink,
    ...lazyPage(() => import('./pages/links/links-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/new-link-page'],
    title: 'New link',
    ...lazyPage(() => import('./pages/links/new-link-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/import/import-page'],
    title: 'Import links',
    ...lazyPage(() => import('./pages/links/import/import-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/link-page'],
    title: 'Link',
    ...lazyPage(() => import('./pages/links/link-page.tsx')),
  },
  {
    path: PAGE_PATHS['links/edit-link-page'],
    title: 'Edit link',
    ...lazyPage(() => import('./pages/links/edit-link-page.tsx')),
  },
  {
    path: PAGE_PATHS['domains/domains-page'],
    title: 'Domains',
    icon: IconServer,
    ...lazyPage(() => import('./pages/domains/domains-page.tsx')),
  },
  {
    path: PAGE_PATHS['visitors/visitors-page'],
    title: 'Visitors',
    icon: IconAddressBook,
    ...lazyPage(() => import('./pages/visitors/visitors-page.tsx')),
  },
  {
    path: PAGE_PATHS['visitors/visitor-page'],
    title: 'Visitor',
    ...lazyPage(() => import('./pages/visitors/visitor-page.tsx')),
  },
  {
    path: PAGE_PATHS['bio-pages/bio-pages-page'],
    title: 'Bio pages',
    icon: IconWorld,
    ...lazyPage(() => import('./pages/bio-pages/bio-pages-page.tsx')),
  },
  {
    path: PAGE_PATHS['bio-pages/bio-page-page'],
    title: 'Bio page',
    ...lazyPage(() => import('./pages/bio-pages/bio-page-page.tsx')),
  },
  {
    path: PAGE_PATHS['referrals/referrals-page'],
    title: 'Referrals',
    icon: IconGift,
    ...lazyPage(() => import('./pages/referrals/referrals-page.tsx')),
  },
  {
    path: PAGE_PATHS['connections/connections-page'],
    title: 'Connections',
    icon: IconPlugConnected,
    ...lazyPage(() => import('./pages/connections/connections-page.tsx')),
  },
  {
    path: PAGE_PATHS['connections/connection-page'],
    title: 'Connection',
    ...lazyPage(() => import('./pages/connections/connection-page.tsx')),
  },
  {
    path: PAGE_PATHS['webhooks/webhooks-page'],
    title: 'Webhooks',
    icon: IconWebhook,
    ...lazyPage(() => import('./pages/webhooks/webhooks-page.tsx')),
  },
  {
    path: PAGE_PATHS['webhooks/webhook-page'],
    title: 'Webhook',
    ...lazyPage(() => import('./pages/webhooks/webhook-page.tsx')),
  },
  {
    path: PAGE_PATHS['settings/settings-page'],
    title: 'Settings',
    icon: IconSettings,
    ...lazyPage(() => import('./pages/settings/settings-page.tsx')),
  },
  {
    path: PAGE_PATHS['developers/developers-page'],
    title: 'Developers',
    icon: IconCode,
    ...lazyPage(() => import('./pages/developers/developers-page.tsx')),
  },
  {
    path: PAGE_PATHS['parts/parts-page'],
    title: 'Parts',
    ...lazyPage(() => import('./pages/parts/parts-page.tsx')),
  },
];

/** Pages for signed-out users: the sign-in, and the page of an invitation. */
export const SIGN_IN_PAGE = lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'));
export const WELCOME_PAGE = lazyPage(() => import('./pages/sign-in/welcome-page.tsx'));

/** The page of shared dashboards: outside `/console`, without a session. */
export const SHARED_PAGE = lazyPage(() => import('./pages/shared/shared-page.tsx'));

/** The page at a path below `/console`; undefined if there is none. */
export function pageAt(pathname: string): LazyPage | undefined {
  if (pathname === PAGE_PATHS['sign-in/welcome-page']) return WELCOME_PAGE;
  return PAGES.find(({ path }) => pathPattern(path).test(pathname));
}
