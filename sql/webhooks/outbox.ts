import type { EventSource } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { BlockReason } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** The webhook events that records cause. Events of clicks and tracked orders come from the event log. */
export type RecordEvent =
  | { type: 'lead.created'; data: LeadData }
  | { type: 'lead.blocked'; data: LeadData & { block_reason: BlockReason } }
  | { type: 'sale.created' | 'sale.updated'; data: SaleData }
  | { type: 'commission.created'; data: CommissionData }
  | { type: 'commission.updated'; data: CommissionData & { previous_status: string } }
  | { type: 'credit.earned' | 'credit.delivered' | 'credit.revoked'; data: Record<string, unknown> };

export type LeadData = {
  external_user_id: string;
  email: string | null;
  visitor_id: string | null;
  partner_id: string;
  program_id: string;
  created_at: string;
};

export type SaleData = {
  order_id: string;
  /** Major units. */
  amount: number;
  currency: string;
  external_user_id: string | null;
  visitor_id: string | null;
  source: EventSource;
  created_at: string;
};

export type CommissionData = {
  id: string;
  program_id: string;
  partner_id: string;
  order_id: string;
  level: number;
  /** Major units. */
  amount: number;
  currency: string;
  status: string;
  created_at: string;
};

/** Queues events for the webhook deliverer, in the transaction that causes them: both commit or neither does. */
export async function queueEvents(
  tx: Queryable,
  workspaceId: string,
  events: readonly RecordEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(
    `INSERT INTO webhook_outbox (id, workspace_id, type, data)
     SELECT id, $1, type, data FROM unnest($2::uuid[], $3::text[], $4::jsonb[]) AS event (id, type, data)`,
    [
      workspaceId,
      events.map(() => uuidv7()),
      events.map((event) => event.type),
      events.map((event) => JSON.stringify(event.data)),
    ],
  );
}
