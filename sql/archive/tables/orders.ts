import type { ArchivedTable } from '../archived-table.ts';

const CLAIM = 'a worker of the deployment was at it';

/** Orders, and which visitors, emails and users belong together. */
export const ORDER_TABLES: readonly ArchivedTable[] = [
  {
    name: 'click_imports',
    order: 'id',
    without: {
      roll_up_due: 'the import of the archive has its own',
      is_storing: 'of replicas of ClickHouse',
    },
  },
  {
    name: 'orders',
    order: 'internal_id',
    numbers: { internal_id: 'orders', same_as: 'orders' },
    without: { claimed_until: CLAIM },
    refersToItself: true,
  },
  { name: 'identities', order: 'visitor_id, email' },
  { name: 'visitor_users', order: 'visitor_id, external_user_id' },
  { name: 'joined_visitors', order: 'visitor_id, other_visitor_id' },
  {
    name: 'leads',
    order: 'internal_id',
    numbers: { internal_id: 'leads' },
    without: { claimed_until: CLAIM },
  },
];
