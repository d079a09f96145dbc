import {
  IconAddressBook,
  IconChartBar,
  IconCode,
  IconGift,
  IconLayoutDashboard,
  IconLink,
  IconSettings,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react';
import { type ComponentType, lazy } from 'react';

/** A page of the console: its path below `/console`, and the code that is loaded when it is opened. */
export type Page = {
  path: string;
  title: string;
  Component: ComponentType;
  /** In the navigation; pages without are reached from others. */
  icon?: ComponentType<{ size?: number | string; stroke?: number | string }>;
};

/** Every page behind the sign-in, in the order of the navigation. A new page is added here and nowhere else. */
export const PAGES: Page[] = [
  {
    path: '/',
    title: 'Overview',
    icon: IconLayoutDashboard,
    Component: lazy(() => import('./pages/overview/overview-page.tsx')),
  },
  {
    path: '/live',
    title: 'Live',
    icon: IconChartBar,
    Component: lazy(() => import('./pages/live/live-page.tsx')),
  },
  {
    path: '/links',
    title: 'Links',
    icon: IconLink,
    Component: lazy(() => import('./pages/links/links-page.tsx')),
  },
  {
    path: '/links/new',
    title: 'New link',
    Component: lazy(() => import('./pages/links/new-link-page.tsx')),
  },
  {
    path: '/links/import',
    title: 'Import links',
    Component: lazy(() => import('./pages/links/import/import-page.tsx')),
  },
  {
    path: '/links/:id',
    title: 'Link',
    Component: lazy(() => import('./pages/links/link-page.tsx')),
  },
  {
    path: '/links/:id/edit',
    title: 'Edit link',
    Component: lazy(() => import('./pages/links/edit-link-page.tsx')),
  },
  {
    path: '/visitors',
    title: 'Visitors',
    icon: IconAddressBook,
    Component: lazy(() => import('./pages/visitors/visitors-page.tsx')),
  },
  {
    path: '/visitors/:id',
    title: 'Visitor',
    Component: lazy(() => import('./pages/visitors/visitor-page.tsx')),
  },
  {
    path: '/bio-pages',
    title: 'Bio pages',
    icon: IconWorld,
    Component: lazy(() => import('./pages/bio-pages/bio-pages-page.tsx')),
  },
  {
    path: '/bio-pages/:id',
    title: 'Bio page',
    Component: lazy(() => import('./pages/bio-pages/bio-page-page.tsx')),
  },
  {
    path: '/referrals',
    title: 'Referrals',
    icon: IconGift,
    Component: lazy(() => import('./pages/referrals/referrals-page.tsx')),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: IconWebhook,
    Component: lazy(() => import('./pages/webhooks/webhooks-page.tsx')),
  },
  {
    path: '/webhooks/:id',
    title: 'Webhook',
    Component: lazy(() => import('./pages/webhooks/webhook-page.tsx')),
  },
  {
    path: '/settings',
    title: 'Settings',
    icon: IconSettings,
    Component: lazy(() => import('./pages/settings/settings-page.tsx')),
  },
  {
    path: '/settings/developers',
    title: 'Developers',
    icon: IconCode,
    Component: lazy(() => import('./pages/developers/developers-page.tsx')),
  },
];

/** Pages for who is signed out: the sign-in, and the page that an invitation's link opens. */
export const SignInPage = lazy(() => import('./pages/sign-in/sign-in-page.tsx'));
export const WelcomePage = lazy(() => import('./pages/sign-in/welcome-page.tsx'));
