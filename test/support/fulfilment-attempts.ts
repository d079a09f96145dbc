import type { Attempts } from './attempt.ts';

/** Attempts at the fulfilments of another workspace. */
export const FULFILMENT_ATTEMPTS: Attempts = {
  'GET /api/v1/fulfilments': (victim) => [
    { path: '/fulfilments', status: 200 },
    { path: `/fulfilments?program_id=${victim.program}`, status: 200 },
  ],
  'POST /api/v1/fulfilments': (victim) => [
    {
      path: '/fulfilments',
      body: {
        provider: 'webhook',
        program_id: victim.program,
        settings: { url: 'https://8.8.8.8/own' },
        include_earlier: true,
      },
      status: 404,
    },
    {
      path: '/fulfilments',
      body: { provider: 'stripe_balance', program_id: victim.program, settings: {} },
      status: 404,
    },
  ],
  'GET /api/v1/fulfilments/{id}': (victim) => [{ path: `/fulfilments/${victim.fulfilment}`, status: 404 }],
  'PATCH /api/v1/fulfilments/{id}': (victim) => [
    {
      path: `/fulfilments/${victim.fulfilment}`,
      body: { settings: { url: 'https://8.8.8.8/thief' } },
      status: 404,
    },
  ],
  'DELETE /api/v1/fulfilments/{id}': (victim) => [{ path: `/fulfilments/${victim.fulfilment}`, status: 404 }],
  'POST /api/v1/fulfilments/{id}/rotate-secret': (victim) => [
    { path: `/fulfilments/${victim.fulfilment}/rotate-secret`, body: {}, status: 404 },
  ],
  'GET /api/v1/fulfilments/{id}/deliveries': (victim) => [
    { path: `/fulfilments/${victim.fulfilment}/deliveries`, status: 404 },
  ],
  'POST /api/v1/fulfilments/{id}/deliveries/{delivery_id}/retry': (victim) => [
    {
      path: `/fulfilments/${victim.fulfilment}/deliveries/${victim.creditDelivery}/retry`,
      body: {},
      status: 404,
    },
  ],
};
