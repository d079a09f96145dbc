import type { Attempts } from './attempt.ts';
import { SECRET_NAME } from './victim.ts';

/** Start of the live stream's history. */
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString();

const OWN_REPORT = {
  name: 'Own',
  schedule: { every: 'day', hour: 8 },
  recipients: [{ type: 'slack', address: 'https://203.0.114.7/own' }],
};

const OWN_ALERT = {
  name: 'Own',
  condition: { metric: 'clicks', type: 'none', window_hours: 1 },
  recipients: OWN_REPORT.recipients,
};

/** Attempts at clicks, visitors, reports and shared dashboards. */
export const REPORT_ATTEMPTS: Attempts = {
  'GET /api/v1/annotations': () => [{ path: '/annotations', status: 200 }],
  'POST /api/v1/annotations': () => [
    { path: '/annotations', body: { at: '2026-11-20', text: 'Own' }, status: 201 },
  ],
  'DELETE /api/v1/annotations/{id}': (victim) => [{ path: `/annotations/${victim.annotation}`, status: 404 }],
  'GET /api/v1/saved-views': () => [{ path: '/saved-views', status: 200 }],
  'POST /api/v1/saved-views': () => [{ path: '/saved-views', body: { name: 'Own', query: {} }, status: 201 }],
  'DELETE /api/v1/saved-views/{id}': (victim) => [{ path: `/saved-views/${victim.savedView}`, status: 404 }],
  'GET /api/v1/alerts': () => [{ path: '/alerts', status: 200 }],
  'POST /api/v1/alerts': (victim) => [
    { path: '/alerts', body: { ...OWN_ALERT, saved_view_id: victim.savedView }, status: 404 },
    { path: '/alerts', body: { ...OWN_ALERT, query: {} }, status: 201 },
  ],
  'GET /api/v1/alerts/{id}': (victim) => [{ path: `/alerts/${victim.alert}`, status: 404 }],
  'GET /api/v1/alerts/{id}/history': (victim) => [{ path: `/alerts/${victim.alert}/history`, status: 404 }],
  'PATCH /api/v1/alerts/{id}': (victim) => [
    { path: `/alerts/${victim.alert}`, body: { is_active: false }, status: 404 },
  ],
  'DELETE /api/v1/alerts/{id}': (victim) => [{ path: `/alerts/${victim.alert}`, status: 404 }],
  'GET /api/v1/reports': () => [{ path: '/reports', status: 200 }],
  'POST /api/v1/reports': (victim) => [
    { path: '/reports', body: { ...OWN_REPORT, saved_view_id: victim.savedView }, status: 404 },
    { path: '/reports', body: { ...OWN_REPORT, query: {} }, status: 201 },
  ],
  'GET /api/v1/reports/{id}': (victim) => [{ path: `/reports/${victim.report}`, status: 404 }],
  'PATCH /api/v1/reports/{id}': (victim) => [
    { path: `/reports/${victim.report}`, body: { is_active: false }, status: 404 },
  ],
  'DELETE /api/v1/reports/{id}': (victim) => [{ path: `/reports/${victim.report}`, status: 404 }],
  'POST /api/v1/reports/{id}/send-now': (victim) => [
    { path: `/reports/${victim.report}/send-now`, body: {}, status: 404 },
  ],
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
  'GET /api/v1/clicks/imports': () => [{ path: '/clicks/imports', status: 200 }],
  'POST /api/v1/clicks/import': (victim) => [
    { path: '/clicks/import', body: { ts: '2025-01-01', slug: 'victims-slug' }, status: 200 },
    { path: `/clicks/import?link=${victim.link}`, body: { ts: '2025-01-01' }, status: 400 },
    { path: `/clicks/import?domain=${victim.domainName}`, body: { ts: '2025-01-01' }, status: 400 },
    {
      path: `/clicks/import?import_id=${victim.clickImport}`,
      body: { ts: '2025-01-01', slug: 'x' },
      status: 200,
    },
  ],
  'DELETE /api/v1/clicks/imports/{id}': (victim) => [
    { path: `/clicks/imports/${victim.clickImport}`, status: 404 },
  ],
  'GET /api/v1/clicks/live': (victim) => [
    { path: `/clicks/live?seconds=1&since=${YESTERDAY}`, status: 200 },
    { path: `/clicks/live?seconds=1&since=${YESTERDAY}&link_ids=${victim.link}&bots=include`, status: 200 },
  ],
  'GET /api/v1/visitors': (victim) => [
    { path: '/visitors', status: 200 },
    { path: `/visitors?email=${SECRET_NAME}@victim.example`, status: 200 },
    { path: `/visitors?search=${SECRET_NAME}`, status: 200 },
    { path: `/visitors?search=${victim.visitor.slice(-8)}`, status: 200 },
  ],
  'GET /api/v1/visitors/{id}/journey': (victim) => [
    { path: `/visitors/${victim.visitor}/journey`, status: 404 },
    { path: `/visitors/${victim.visitor}/journey?include=details`, status: 404 },
  ],
};
