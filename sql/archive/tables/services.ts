import type { ArchivedTable } from '../archived-table.ts';

const SEALED = 'it is sealed with the deployment’s own key: set it again';
const ATTEMPT = 'an attempt of the deployment was under way';

/** Webhooks, connected providers, and fulfilments. After the ledger. */
export const SERVICE_TABLES: readonly ArchivedTable[] = [
  { name: 'webhooks', order: 'id' },
  {
    name: 'webhook_secrets',
    rows: 't.webhook_id IN (SELECT id FROM webhooks WHERE workspace_id = $1)',
    order: 'webhook_id, secret',
  },
  { name: 'connections', order: 'id', without: { signing_secret: SEALED, restricted_key: SEALED } },
  { name: 'connection_payments', order: 'id', numbers: { order_internal_id: 'orders' } },
  { name: 'connection_events', order: 'internal_id', numbers: { internal_id: 'connection_events' } },
  { name: 'connection_ties', order: 'provider, payer, event_id' },
  { name: 'connection_customers', order: 'provider, customer_id' },
  { name: 'connection_codes', order: 'provider, code_id' },
  { name: 'promotion_codes', order: 'id', without: { attempt_ends_at: ATTEMPT } },
  { name: 'fulfilments', order: 'id', without: { restricted_key: SEALED } },
  {
    name: 'grant_deliveries',
    order: 'id',
    numbers: { grant_id: 'grants' },
    without: { attempt_ends_at: ATTEMPT },
  },
];
