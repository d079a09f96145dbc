/**
 * Scopes of a restricted secret key. `read` permits what an analyst may read. Each other scope permits every read and
 * write of its area.
 */
export const KEY_RESTRICTIONS = ['read', 'links', 'referrals', 'tracking'] as const;
export type KeyRestriction = (typeof KEY_RESTRICTIONS)[number];

/**
 * The area of each first path segment below `/api/v1`. Segments that are not here need `read` or an unrestricted key.
 */
const AREAS: Readonly<Record<string, KeyRestriction>> = {
  links: 'links',
  folders: 'links',
  'utm-templates': 'links',
  domains: 'links',
  'bio-pages': 'links',
  channels: 'links',
  referrals: 'referrals',
  programs: 'referrals',
  enrollments: 'referrals',
  commissions: 'referrals',
  coupons: 'referrals',
  purchases: 'referrals',
  signups: 'referrals',
  applications: 'referrals',
  assets: 'referrals',
  'partner-groups': 'referrals',
  messages: 'referrals',
  credits: 'referrals',
  fulfilments: 'referrals',
  payouts: 'referrals',
  ledger: 'referrals',
  connections: 'referrals',
  track: 'tracking',
  pixel: 'tracking',
};

/**
 * Returns whether a key restricted to `scopes` may call a route.
 *
 * @param path of the route, from `/api/v1` on
 * @param isRead an analyst may call it
 */
export function mayCall(
  scopes: readonly string[],
  { path, isRead }: { path: string; isRead: boolean },
): boolean {
  const segment = path.split('/')[3] ?? '';
  // Every key may read its own description.
  if (segment === 'me') return true;
  if (isRead && scopes.includes('read')) return true;
  const area = Object.hasOwn(AREAS, segment) ? AREAS[segment] : undefined;
  return area !== undefined && scopes.includes(area);
}
