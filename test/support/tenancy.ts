import { MEMBER_ATTEMPTS } from './member-attempts.ts';
import { SECRET_NAME, type Victim } from './victim.ts';

/** `as: 'member'`: called by a console member of the other workspace, where a key is not accepted. */
export type Attempt = { path: string; body?: unknown; status: number; as?: 'member' };

/** Start of the live stream's history. */
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();
const URL_OF_OWN = 'https://own.example';
export const OWN = { destination_url: URL_OF_OWN, name: 'Own', channel: 'slack' };
/** Greater than every id: the cursor of a walk's beginning. */
const LAST_ID = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
/** For each endpoint: calls with the victim's ids, and the status that each must get. */
export const ATTEMPTS: Record<string, (victim: Victim) => Attempt[]> = {
  'GET /api/v1/me': () => [{ path: '/me', status: 200 }],
  'GET /api/v1/workspace': () => [{ path: '/workspace', status: 200 }],
  'PATCH /api/v1/workspace': () => [{ path: '/workspace', body: { payout_hold_days: 5 }, status: 200 }],
  'POST /api/v1/identity-secret': () => [{ path: '/identity-secret', body: {}, status: 201 }],
  'GET /api/v1/links': (victim) => [
    { path: '/links?days=365', status: 200 },
    { path: `/links?ids=${victim.link}&include=settings`, status: 200 },
    { path: '/links?view=records', status: 200 },
    { path: `/links?view=records&destination_id=${victim.destination}`, status: 200 },
    { path: `/links?view=records&external_id=${victim.externalId}`, status: 200 },
    { path: `/links?view=records&slug=${victim.slug}`, status: 200 },
  ],
  'POST /api/v1/links': (victim) => [
    { path: '/links', body: { destination_id: victim.destination, channel: 'slack' }, status: 404 },
    { path: '/links', body: { ...OWN, folder_id: victim.folder }, status: 404 },
    { path: '/links', body: { ...OWN, slug: victim.slug.toUpperCase() }, status: 409 },
    { path: '/links', body: { ...OWN, domain: victim.domainName }, status: 400 },
    { path: '/links', body: { ...OWN, external_id: victim.externalId }, status: 201 },
  ],
  'POST /api/v1/links/bulk': (victim) => [
    {
      path: '/links/bulk',
      body: { links: [{ destination_id: victim.destination, channel: 'slack' }] },
      status: 200,
    },
  ],
  'PATCH /api/v1/links/bulk': (victim) => [
    { path: '/links/bulk', body: { ids: [victim.link], set: { max_clicks: 1 } }, status: 200 },
  ],
  'DELETE /api/v1/links/bulk': (victim) => [
    { path: '/links/bulk', body: { ids: [victim.link] }, status: 200 },
  ],
  'POST /api/v1/links/import': (victim) => [
    {
      path: '/links/import',
      body: { text: `destination_id,channel\n${victim.destination},slack` },
      status: 200,
    },
    {
      path: '/links/import',
      body: {
        text: `destination_url,name,slug,external_id,folder_id\n${URL_OF_OWN},Own,${victim.slug},,\n${URL_OF_OWN},Own,,own-import,${victim.folder}`,
      },
      status: 200,
    },
  ],
  'GET /api/v1/links/search': (victim) => [
    { path: `/links/search?sort=clicks&days=365`, status: 200 },
    { path: `/links/search?q=${victim.slug}`, status: 200 },
    { path: `/links/search?ids=${victim.link}`, status: 200 },
    { path: `/links/search?folder_id=${victim.folder}`, status: 200 },
    { path: `/links/search?tag=${SECRET_NAME}`, status: 200 },
  ],
  'GET /api/v1/links/tags': () => [{ path: '/links/tags', status: 200 }],
  'GET /api/v1/links/{id}': (victim) => [{ path: `/links/${victim.link}`, status: 404 }],
  'PATCH /api/v1/links/{id}': (victim) => [
    { path: `/links/${victim.link}`, body: { name: 'Stolen', slug: 'stolen' }, status: 404 },
  ],
  'DELETE /api/v1/links/{id}': (victim) => [{ path: `/links/${victim.link}`, status: 404 }],
  'GET /api/v1/pixel/problems': () => [{ path: '/pixel/problems', status: 200 }],
  'DELETE /api/v1/pixel/problems': () => [{ path: '/pixel/problems', status: 200 }],
  'POST /api/v1/pixel/tests': () => [
    { path: '/pixel/tests', body: { url: 'https://own.example/' }, status: 201 },
  ],
  'GET /api/v1/pixel/tests/{id}': (victim) => [{ path: `/pixel/tests/${victim.pixelTest}`, status: 404 }],
  'GET /api/v1/domains': () => [{ path: '/domains', status: 200 }],
  'POST /api/v1/domains': () => [{ path: '/domains', body: { domain: 'own.example.com' }, status: 201 }],
  'GET /api/v1/domains/{id}': (victim) => [{ path: `/domains/${victim.domain}`, status: 404 }],
  'PATCH /api/v1/domains/{id}': (victim) => [
    { path: `/domains/${victim.domain}`, body: { is_default: true }, status: 404 },
    { path: `/domains/${victim.domain}`, body: { root_url: URL_OF_OWN }, status: 404 },
  ],
  'POST /api/v1/domains/{id}/verify': (victim) => [
    { path: `/domains/${victim.domain}/verify`, body: {}, status: 404 },
  ],
  'DELETE /api/v1/domains/{id}': (victim) => [
    { path: `/domains/${victim.domain}`, status: 404 },
    { path: `/domains/${victim.domain}?links=delete`, status: 404 },
  ],
  'GET /api/v1/folders': () => [{ path: '/folders', status: 200 }],
  'POST /api/v1/folders': () => [{ path: '/folders', body: { name: 'Own' }, status: 201 }],
  'PATCH /api/v1/folders/{id}': (victim) => [
    { path: `/folders/${victim.folder}`, body: { name: 'Stolen' }, status: 404 },
    { path: `/folders/${victim.folder}`, body: {}, status: 404 },
  ],
  'DELETE /api/v1/folders/{id}': (victim) => [{ path: `/folders/${victim.folder}`, status: 404 }],
  'GET /api/v1/saved-views': () => [{ path: '/saved-views', status: 200 }],
  'POST /api/v1/saved-views': () => [{ path: '/saved-views', body: { name: 'Own', query: {} }, status: 201 }],
  'DELETE /api/v1/saved-views/{id}': (victim) => [{ path: `/saved-views/${victim.savedView}`, status: 404 }],
  'GET /api/v1/shared-dashboards': () => [{ path: '/shared-dashboards', status: 200 }],
  'POST /api/v1/shared-dashboards': (victim) => [
    {
      path: '/shared-dashboards',
      body: { name: 'Own', scope: { type: 'folder', values: [victim.folder] } },
      status: 404,
    },
    {
      path: '/shared-dashboards',
      body: { name: 'Own', scope: { type: 'links', values: [victim.link] } },
      status: 404,
    },
    {
      path: '/shared-dashboards',
      body: { name: 'Own', scope: { type: 'tag', values: ['own'] } },
      status: 201,
    },
  ],
  'PATCH /api/v1/shared-dashboards/{id}': (victim) => [
    { path: `/shared-dashboards/${victim.dashboard}`, body: { password: null }, status: 404 },
  ],
  'DELETE /api/v1/shared-dashboards/{id}': (victim) => [
    { path: `/shared-dashboards/${victim.dashboard}`, status: 404 },
  ],
  'GET /api/v1/shared/{token}': (victim) => [
    { path: `/shared/${victim.dashboardToken}`, status: 401 },
    { path: `/shared/${victim.dashboard}`, status: 404 },
  ],
  'POST /api/v1/shared/{token}/query': (victim) => [
    { path: `/shared/${victim.dashboardToken}/query`, body: { metrics: ['clicks'] }, status: 401 },
    { path: `/shared/${victim.dashboard}/query`, body: { metrics: ['clicks'] }, status: 404 },
  ],
  'POST /api/v1/shared/{token}/unlock': (victim) => [
    { path: `/shared/${victim.dashboardToken}/unlock`, body: { password: 'a wrong one' }, status: 401 },
  ],
  'GET /api/v1/channels': () => [{ path: '/channels?days=365&ltv=1', status: 200 }],
  'POST /api/v1/analytics/query': (victim) => [
    {
      path: '/analytics/query',
      body: {
        metrics: ['clicks', 'visitors', 'leads', 'conversions', 'revenue'],
        dimensions: ['link', 'campaign', 'tag'],
        window: { from: '2026-01-01', to: '2027-01-01' },
      },
      status: 200,
    },
    {
      path: '/analytics/query',
      body: {
        metrics: ['clicks'],
        dimensions: ['folder', 'slug', 'channel'],
        filters: [
          {
            any: [
              { dimension: 'link', operator: 'is', values: [victim.link] },
              { dimension: 'campaign', operator: 'is', values: [victim.destination] },
              { dimension: 'folder', operator: 'is', values: [victim.folder] },
              { dimension: 'tag', operator: 'contains', values: [SECRET_NAME] },
            ],
          },
        ],
        bots: 'include',
        window: { from: '2026-01-01', to: '2027-01-01' },
      },
      status: 200,
    },
  ],
  'GET /api/v1/clicks': (victim) => [
    { path: '/clicks', status: 200 },
    { path: `/clicks?link_id=${victim.link}`, status: 200 },
    { path: `/clicks?link_ids=${victim.link}&since=2020-01-01&bots=include`, status: 200 },
  ],
  'GET /api/v1/clicks/export': (victim) => [
    { path: '/clicks/export?format=csv&days=365', status: 200 },
    { path: `/clicks/export?format=ndjson&days=365&link_id=${victim.link}`, status: 200 },
  ],
  'GET /api/v1/clicks/live': (victim) => [
    { path: `/clicks/live?seconds=1&since=${YESTERDAY}`, status: 200 },
    { path: `/clicks/live?seconds=1&since=${YESTERDAY}&link_ids=${victim.link}&bots=include`, status: 200 },
  ],
  'GET /api/v1/visitors': () => [
    { path: '/visitors', status: 200 },
    { path: `/visitors?email=${SECRET_NAME}@victim.example`, status: 200 },
  ],
  'GET /api/v1/visitors/{id}/journey': (victim) => [
    { path: `/visitors/${victim.visitor}/journey`, status: 404 },
    { path: `/visitors/${victim.visitor}/journey?include=details`, status: 404 },
  ],
  'POST /api/v1/track/identify': (victim) => [
    {
      path: '/track/identify',
      body: { visitor_id: victim.visitor, email: 'thief@own.example' },
      status: 202,
    },
  ],
  'POST /api/v1/track/order': (victim) => [
    {
      path: '/track/order',
      body: { visitor_id: victim.visitor, order_id: victim.orderId, amount: 1, currency: 'usd' },
      status: 202,
    },
  ],
  'GET /api/v1/credits': (victim) => [
    { path: `/credits?partner_id=${victim.partner}`, status: 200 },
    { path: `/credits?external_user_id=${victim.referrer}`, status: 200 },
    { path: '/credits?status=earned', status: 200 },
  ],
  'POST /api/v1/credits/{id}/revoke': (victim) => [
    { path: `/credits/${victim.grant}/revoke`, body: { reason: 'theft' }, status: 404 },
  ],
  'GET /api/v1/commissions': (victim) => [
    { path: `/commissions?cursor=${LAST_ID}`, status: 200 },
    { path: `/commissions?partner_id=${victim.partner}`, status: 200 },
    { path: `/commissions?program_id=${victim.program}`, status: 200 },
  ],
  'POST /api/v1/commissions': (victim) => [
    {
      path: '/commissions',
      body: { external_user_id: victim.referrer, amount: 1, note: 'theft' },
      status: 404,
    },
  ],
  'POST /api/v1/commissions/{id}/reject': (victim) => [
    { path: `/commissions/${victim.commission}/reject`, status: 404 },
  ],
  'POST /api/v1/credits/{id}/mark-delivered': (victim) => [
    { path: `/credits/${victim.grant}/mark-delivered`, status: 404 },
  ],
  'POST /api/v1/referrals/enroll': (victim) => [
    {
      path: '/referrals/enroll',
      body: { email: 'a@own.example', external_user_id: 'own', tier: 'free', program_id: victim.program },
      status: 404,
    },
  ],
  'POST /api/v1/referrals/report-signup': (victim) => [
    {
      path: '/referrals/report-signup',
      body: { new_user_external_user_id: 'new', ref_code: victim.refCode, _vid: victim.visitor },
      status: 200,
    },
    {
      path: '/referrals/report-signup',
      body: { new_user_external_user_id: 'newer', referrer_external_user_id: victim.referrer },
      status: 200,
    },
  ],
  'POST /api/v1/referrals/report-purchase': (victim) => [
    {
      path: '/referrals/report-purchase',
      body: { external_user_id: 'victims-referee', order_id: victim.orderId, amount: 10 },
      status: 200,
    },
  ],
  'POST /api/v1/referrals/report-refund': (victim) => [
    {
      path: '/referrals/report-refund',
      body: { refund_id: 'r', order_id: 'victims-purchase', amount: 1 },
      status: 200,
    },
    { path: '/referrals/report-refund', body: { refund_id: 's', order_id: victim.orderId }, status: 200 },
  ],
  'GET /api/v1/referrals/stats': (victim) => [
    { path: `/referrals/stats?external_user_id=${victim.referrer}`, status: 404 },
    { path: `/referrals/stats?external_user_id=own&program_id=${victim.program}`, status: 404 },
  ],
  'POST /api/v1/referrals/reward-mode': (victim) => [
    {
      path: '/referrals/reward-mode',
      body: { external_user_id: victim.referrer, mode: 'affiliate' },
      status: 404,
    },
  ],
  'POST /api/v1/referrals/payout-method': (victim) => [
    {
      path: '/referrals/payout-method',
      body: { external_user_id: victim.referrer, method: 'paypal', email: 'thief@own.example' },
      status: 404,
    },
  ],
  'GET /api/v1/payouts/export': (victim) => [
    { path: '/payouts/export', status: 200 },
    { path: `/payouts/export?program_id=${victim.program}`, status: 404 },
  ],
  'POST /api/v1/payouts': (victim) => [
    { path: '/payouts', body: { export_id: victim.payoutExport }, status: 404 },
    {
      path: '/payouts',
      body: { export_id: victim.payoutExport, partner_ids: [victim.partner] },
      status: 404,
    },
  ],
  'GET /api/v1/payouts': (victim) => [
    { path: '/payouts', status: 200 },
    { path: `/payouts?paid=false&cursor=${LAST_ID}`, status: 200 },
    { path: `/payouts?cursor=${victim.payoutExport}`, status: 200 },
  ],
  'GET /api/v1/payouts/eligible': (victim) => [
    { path: '/payouts/eligible', status: 200 },
    { path: `/payouts/eligible?program_id=${victim.program}&cursor=${LAST_ID}`, status: 200 },
  ],
  'GET /api/v1/payouts/{id}': (victim) => [{ path: `/payouts/${victim.payoutExport}`, status: 404 }],
  'DELETE /api/v1/payouts/{id}': (victim) => [{ path: `/payouts/${victim.payoutExport}`, status: 404 }],
  'POST /api/v1/payouts/{id}/lines/{partner_id}/fail': (victim) => [
    {
      path: `/payouts/${victim.payoutExport}/lines/${victim.partner}/fail`,
      body: { reason: 'theft' },
      status: 404,
    },
  ],
  'GET /api/v1/payouts/{id}/lines': (victim) => [
    { path: `/payouts/${victim.payoutExport}/lines`, status: 404 },
  ],
  'GET /api/v1/enrollments': (victim) => [
    { path: `/enrollments?cursor=${LAST_ID}`, status: 200 },
    { path: `/enrollments?program_id=${victim.program}`, status: 200 },
    { path: `/enrollments?search=${SECRET_NAME}`, status: 200 },
  ],
  'GET /api/v1/enrollments/{id}': (victim) => [{ path: `/enrollments/${victim.partner}`, status: 404 }],
  'PATCH /api/v1/enrollments/{id}': (victim) => [
    { path: `/enrollments/${victim.partner}`, body: { status: 'suspended' }, status: 404 },
    { path: `/enrollments/${victim.partner}`, body: { status: 'approved' }, status: 404 },
    {
      path: `/enrollments/${victim.partner}`,
      body: { payout_method: { method: 'paypal', email: 'thief@own.example' } },
      status: 404,
    },
  ],
  'DELETE /api/v1/enrollments/{id}': (victim) => [{ path: `/enrollments/${victim.partner}`, status: 404 }],
  'GET /api/v1/enrollments/{id}/history': (victim) => [
    { path: `/enrollments/${victim.partner}/history`, status: 404 },
  ],
  'GET /api/v1/signups': (victim) => [
    { path: `/signups?cursor=${LAST_ID}`, status: 200 },
    { path: `/signups?partner_id=${victim.partner}`, status: 200 },
    { path: `/signups?program_id=${victim.program}&search=victims-referee`, status: 200 },
  ],
  'POST /api/v1/signups/{id}/approve': (victim) => [
    { path: `/signups/${victim.signup}/approve`, body: {}, status: 404 },
  ],
  'POST /api/v1/signups/{id}/reject': (victim) => [
    { path: `/signups/${victim.signup}/reject`, body: {}, status: 404 },
  ],
  'POST /api/v1/purchases/{internal_order_id}/reevaluate': (victim) => [
    { path: `/purchases/${victim.internalOrder}/reevaluate`, body: {}, status: 404 },
  ],
  'GET /api/v1/purchases': (victim) => [
    { path: '/purchases', status: 200 },
    { path: `/purchases?partner_id=${victim.partner}`, status: 200 },
    { path: `/purchases?program_id=${victim.program}&order_id=victims-purchase`, status: 200 },
  ],
  'GET /api/v1/ledger': (victim) => [
    { path: '/ledger', status: 200 },
    { path: `/ledger?partner_id=${victim.partner}`, status: 200 },
    { path: `/ledger?program_id=${victim.program}&external_user_id=${victim.referrer}`, status: 200 },
    { path: '/ledger?order_id=victims-purchase', status: 200 },
  ],
  'GET /api/v1/ledger/balances': (victim) => [
    { path: '/ledger/balances', status: 200 },
    { path: `/ledger/balances?partner_id=${victim.partner}`, status: 200 },
    { path: `/ledger/balances?external_user_id=${victim.referrer}`, status: 200 },
    { path: '/ledger/balances?order_id=victims-purchase', status: 200 },
  ],
  'GET /api/v1/programs': () => [{ path: '/programs', status: 200 }],
  'GET /api/v1/programs/{id}': (victim) => [{ path: `/programs/${victim.program}`, status: 404 }],
  'PATCH /api/v1/programs/{id}': (victim) => [
    { path: `/programs/${victim.program}`, body: { name: 'Stolen', status: 'paused' }, status: 404 },
  ],
  'POST /api/v1/programs': (victim) => [
    {
      path: '/programs',
      body: { name: 'Own', destination_url: URL_OF_OWN, code: victim.programCode.toUpperCase() },
      status: 409,
    },
    { path: '/programs', body: { name: 'Own', destination_url: URL_OF_OWN }, status: 201 },
  ],
  'GET /api/v1/webhooks': () => [{ path: '/webhooks', status: 200 }],
  'POST /api/v1/webhooks': () => [
    { path: '/webhooks', body: { url: 'https://8.8.8.8/own', events: ['click.created'] }, status: 201 },
  ],
  'GET /api/v1/webhooks/{id}': (victim) => [{ path: `/webhooks/${victim.webhook}`, status: 404 }],
  'PATCH /api/v1/webhooks/{id}': (victim) => [
    { path: `/webhooks/${victim.webhook}`, body: { url: 'https://8.8.8.8/thief' }, status: 404 },
    { path: `/webhooks/${victim.webhook}`, body: { is_active: false }, status: 404 },
  ],
  'DELETE /api/v1/webhooks/{id}': (victim) => [{ path: `/webhooks/${victim.webhook}`, status: 404 }],
  'POST /api/v1/webhooks/{id}/test': (victim) => [
    { path: `/webhooks/${victim.webhook}/test`, body: {}, status: 404 },
  ],
  'POST /api/v1/webhooks/{id}/rotate-secret': (victim) => [
    { path: `/webhooks/${victim.webhook}/rotate-secret`, body: {}, status: 404 },
  ],
  'GET /api/v1/webhooks/{id}/deliveries': (victim) => [
    { path: `/webhooks/${victim.webhook}/deliveries`, status: 404 },
  ],
  'GET /api/v1/webhooks/{id}/deliveries/{delivery_id}': (victim) => [
    { path: `/webhooks/${victim.webhook}/deliveries/${victim.delivery}`, status: 404 },
  ],
  'POST /api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver': (victim) => [
    {
      path: `/webhooks/${victim.webhook}/deliveries/${victim.delivery}/redeliver`,
      body: {},
      status: 404,
    },
  ],
  'GET /api/v1/audit-log': () => [
    { path: '/audit-log', status: 200 },
    { path: '/audit-log?format=ndjson', status: 200 },
  ],
  'GET /api/v1/keys': () => [{ path: '/keys', status: 200 }],
  'POST /api/v1/keys': () => [{ path: '/keys', body: { kind: 'publishable' }, status: 201 }],
  'DELETE /api/v1/keys/{id}': (victim) => [{ path: `/keys/${victim.key}`, status: 404 }],
  'GET /api/v1/bio-pages': (victim) => [
    { path: '/bio-pages', status: 200 },
    { path: `/bio-pages?external_id=${victim.externalId}`, status: 200 },
  ],
  'POST /api/v1/bio-pages': (victim) => [
    { path: '/bio-pages', body: { slug: victim.bioSlug.toUpperCase() }, status: 409 },
    { path: '/bio-pages', body: { slug: 'own-page', external_id: victim.externalId }, status: 201 },
  ],
  'GET /api/v1/bio-pages/availability': (victim) => [
    { path: `/bio-pages/availability?slug=${victim.bioSlug}`, status: 200 },
  ],
  'POST /api/v1/bio-pages/preview': (victim) => [
    {
      path: '/bio-pages/preview',
      body: { slug: victim.bioSlug, links: [{ id: 'same', url: URL_OF_OWN }] },
      status: 200,
    },
  ],
  'GET /api/v1/bio-pages/{id}': (victim) => [
    { path: `/bio-pages/${victim.bioPage}`, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}`, status: 404 },
  ],
  'PATCH /api/v1/bio-pages/{id}': (victim) => [
    { path: `/bio-pages/${victim.bioPage}`, body: { title: 'Stolen', links: [] }, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}`, body: { title: 'Stolen', links: [] }, status: 404 },
  ],
  'DELETE /api/v1/bio-pages/{id}': (victim) => [
    { path: `/bio-pages/${victim.bioPage}`, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}`, status: 404 },
  ],
  'GET /api/v1/bio-pages/{id}/stats': (victim) => [
    { path: `/bio-pages/${victim.bioPage}/stats`, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}/stats?days=365`, status: 404 },
  ],
  ...MEMBER_ATTEMPTS,
  // For partner keys only; access between partners is tested in api/partner/partner.test.ts.
  'POST /api/v1/partner/workspaces': (victim) => [
    {
      path: '/partner/workspaces',
      body: { external_id: victim.externalId, name: 'Own', rotate_key: true },
      status: 401,
    },
  ],
  'GET /api/v1/partner/workspaces/{external_id}': (victim) => [
    { path: `/partner/workspaces/${victim.externalId}`, status: 401 },
  ],
};
