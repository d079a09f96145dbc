import type { Role } from '../../../core/access/roles.ts';
import { PROVIDERS, providerWords } from '../../../core/connections/providers.ts';

/** Something that the palette finds. */
export type Entry = {
  label: string;
  /** Path of the console, or an address of the service that opens in a tab of its own. */
  path: string;
  description?: string;
  /** What people also call it: the palette finds it by these words too. */
  also?: string;
};

type RoleEntry = Entry & { role: Role };

const PROVIDER_NAMES = PROVIDERS.map((provider) => providerWords(provider).name.toLowerCase()).join(' ');

/** What else the pages of the navigation are called, by title. */
export const PAGE_WORDS: Readonly<Record<string, string>> = {
  Overview: 'home dashboard analytics statistics reports revenue chart map',
  Live: 'stream real time now',
  Links: 'short urls campaigns folders tags csv export utm parameters templates',
  Domains: 'dns cname custom domain ssl certificate',
  Visitors: 'people customers leads journeys',
  'Bio pages': 'link in bio landing page profile',
  Referrals: 'affiliates partners programs commissions credits payouts coupons ledger',
  Connections: `integrations ${PROVIDER_NAMES} billing payments`,
  Webhooks: 'events deliveries notifications zapier secret signature',
  Settings: 'preferences account workspace currency time zone',
  Developers: 'api keys pixel tracking snippet code sdk token',
};

/** Actions by role: their words, and where they are done. */
export const ACTIONS: readonly RoleEntry[] = [
  {
    label: 'Create a link',
    path: '/links/new',
    role: 'operator',
    also: 'new add shorten url utm parameters template rules split qr code',
  },
  { label: 'Import links', path: '/links/import', role: 'operator', also: 'csv bitly dub move upload' },
  {
    label: 'Import click history',
    path: '/links/import/clicks',
    role: 'operator',
    also: 'csv shlink yourls kutt plausible matomo visits orders move upload undo',
  },
  {
    label: 'Export links and clicks',
    path: '/links',
    role: 'analyst',
    also: 'csv download ndjson parquet spreadsheet excel',
  },
  { label: 'Create a bio page', path: '/bio-pages', role: 'operator', also: 'new add link in bio' },
  { label: 'Add a domain', path: '/domains', role: 'operator', also: 'new dns cname custom' },
  {
    label: 'Connect a billing provider',
    path: '/connections',
    role: 'operator',
    also: PROVIDER_NAMES,
  },
  {
    label: 'Create a referral program',
    path: '/referrals?tab=programs',
    role: 'operator',
    also: 'new affiliate',
  },
  {
    label: 'See referrers',
    path: '/referrals?tab=enrollments',
    role: 'analyst',
    also: 'affiliates partners enrollments',
  },
  {
    label: 'Add a referrer',
    path: '/referrals?tab=enrollments',
    role: 'operator',
    also: 'new affiliate partner invite enroll',
  },
  {
    label: 'Import referrers',
    path: '/referrals/import',
    role: 'operator',
    also: 'csv rewardful tolt firstpromoter partnerstack tapfiliate move affiliates partners upload',
  },
  {
    label: 'Review held signups',
    path: '/referrals?tab=signups&result=held',
    role: 'operator',
    also: 'fraud self-referral approve',
  },
  {
    label: 'Pay referrers',
    path: '/referrals?tab=payouts',
    role: 'operator',
    also: 'payouts payment paypal wise payoneer money csv file',
  },
  {
    label: 'Create a coupon',
    path: '/referrals?tab=coupons',
    role: 'operator',
    also: 'promotion discount code',
  },
  { label: 'Send a report', path: '/reports', role: 'operator', also: 'mail schedule slack discord weekly' },
  {
    label: 'Add a webhook',
    path: '/webhooks',
    role: 'operator',
    also: 'new event notification signing secret rotate test delivery',
  },
  { label: 'Show problems', path: '/problems', role: 'operator', also: 'errors status health' },
  {
    label: 'Invite a colleague',
    path: '/settings?tab=members',
    role: 'owner',
    also: 'team users add member',
  },
  {
    label: 'Create an API key',
    path: '/settings/developers',
    role: 'owner',
    also: 'token secret publishable',
  },
  {
    label: 'Install the pixel',
    path: '/settings/developers',
    role: 'operator',
    also: 'tracking script snippet tag conversions',
  },
];

/** Ends the session. */
export const SIGN_OUT = { label: 'Sign out', also: 'log out logout leave end session' };

/** Settings, each where it is changed. */
export const SETTINGS: readonly RoleEntry[] = [
  { label: 'Time zone and currency', path: '/settings', role: 'analyst', also: 'timezone money workspace' },
  { label: 'Attribution', path: '/settings', role: 'analyst', also: 'last click first linear window model' },
  {
    label: 'Tracking and retention',
    path: '/settings',
    role: 'analyst',
    also: 'privacy cookies gdpr delete months',
  },
  {
    label: 'Language',
    path: '/settings',
    role: 'analyst',
    also: 'translation locale english spanish portuguese pages of visitors mails',
  },
  { label: 'Logo for QR codes', path: '/settings', role: 'analyst', also: 'brand image' },
  {
    label: 'Members and roles',
    path: '/settings?tab=members',
    role: 'analyst',
    also: 'team users colleagues',
  },
  {
    label: 'Your password, passkeys, and sessions',
    path: '/settings?tab=sign-in',
    role: 'analyst',
    also: 'login security two-factor 2fa authenticator sign in',
  },
  { label: 'Audit log', path: '/settings?tab=audit-log', role: 'owner', also: 'history changes who' },
];

/** Documents of the service. @param base address of the API */
export const documentsAt = (base: string): Entry[] => [
  { label: 'Documentation', path: `${base}/docs`, also: 'docs help guide manual' },
  {
    label: 'API reference',
    path: `${base}/docs/api`,
    also: 'docs documentation help openapi endpoints',
  },
  { label: 'Errors of the API', path: `${base}/docs/errors`, also: 'docs help codes 400 401 402 404' },
];

/** Returns the entries that have every word of a query in their label or their other names. */
export function matching<T extends Pick<Entry, 'label' | 'also'>>(query: string, entries: readonly T[]): T[] {
  const words = query.toLowerCase().trim().split(/\s+/);
  return entries.filter(({ label, also = '' }) => {
    const text = `${label} ${also}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
