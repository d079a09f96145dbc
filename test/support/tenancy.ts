import type { Attempts } from './attempt.ts';
import { FULFILMENT_ATTEMPTS } from './fulfilment-attempts.ts';
import { LINK_ATTEMPTS } from './link-attempts.ts';
import { MEMBER_ATTEMPTS } from './member-attempts.ts';
import { REFERRAL_ATTEMPTS } from './referral-attempts.ts';
import { REPORT_ATTEMPTS } from './report-attempts.ts';

/** Attempts at every endpoint. Larger subjects have their own files. */
export const ATTEMPTS: Attempts = {
  ...LINK_ATTEMPTS,
  ...REPORT_ATTEMPTS,
  ...REFERRAL_ATTEMPTS,
  ...FULFILMENT_ATTEMPTS,
  'GET /api/v1/me': () => [{ path: '/me', status: 200 }],
  'GET /api/v1/workspace': () => [{ path: '/workspace', status: 200 }],
  'PATCH /api/v1/workspace': () => [{ path: '/workspace', body: { payout_hold_days: 5 }, status: 200 }],
  'POST /api/v1/identity-secret': () => [{ path: '/identity-secret', body: {}, status: 201 }],
  'GET /api/v1/pixel/problems': () => [{ path: '/pixel/problems', status: 200 }],
  'DELETE /api/v1/pixel/problems': () => [{ path: '/pixel/problems', status: 200 }],
  'POST /api/v1/pixel/tests': () => [
    { path: '/pixel/tests', body: { url: 'https://own.example/' }, status: 201 },
  ],
  'GET /api/v1/pixel/tests/{id}': (victim) => [{ path: `/pixel/tests/${victim.pixelTest}`, status: 404 }],
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
  'GET /api/v1/connections': () => [{ path: '/connections', status: 200 }],
  'POST /api/v1/connections': () => [{ path: '/connections', body: { provider: 'stripe' }, status: 201 }],
  'GET /api/v1/connections/{id}': (victim) => [{ path: `/connections/${victim.connection}`, status: 404 }],
  'PATCH /api/v1/connections/{id}': (victim) => [
    { path: `/connections/${victim.connection}`, body: { signing_secret: 'own' }, status: 404 },
  ],
  'DELETE /api/v1/connections/{id}': (victim) => [{ path: `/connections/${victim.connection}`, status: 404 }],
  'GET /api/v1/connections/{id}/events': (victim) => [
    { path: `/connections/${victim.connection}/events`, status: 404 },
  ],
  'POST /api/v1/connections/{id}/events/{event_id}/replay': (victim) => [
    { path: `/connections/${victim.connection}/events/evt_victims/replay`, body: {}, status: 404 },
  ],
  'POST /api/v1/connections/{id}/events/{event_id}/assign': (victim) => [
    {
      path: `/connections/${victim.connection}/events/evt_victims/assign`,
      body: { partner_id: victim.partner },
      status: 404,
    },
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
  // A listener is not shown anywhere: one that the workspace lacks is the same as any.
  'GET /api/v1/webhooks/listen': () => [
    { path: '/webhooks/listen?after=01900000-0000-7000-8000-000000000001.0', status: 404 },
  ],
  'POST /api/v1/webhooks/trigger': () => [
    { path: '/webhooks/trigger', body: { type: 'sale.created' }, status: 201 },
  ],
  'GET /api/v1/audit-log': () => [
    { path: '/audit-log', status: 200 },
    { path: '/audit-log?format=ndjson', status: 200 },
  ],
  'GET /api/v1/keys': () => [{ path: '/keys', status: 200 }],
  'POST /api/v1/keys': () => [{ path: '/keys', body: { kind: 'publishable' }, status: 201 }],
  'DELETE /api/v1/keys/{id}': (victim) => [{ path: `/keys/${victim.key}`, status: 404 }],
  ...MEMBER_ATTEMPTS,
  // Accepts only partner keys; access between partners is tested in api/partner/partner.test.ts.
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
