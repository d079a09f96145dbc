import type { EventSource } from '../../core/events/types.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { FulfilmentProvider } from '../../core/referrals/fulfilment.ts';
import type { ApplicationStatus } from '../../core/referrals/portal.ts';
import type { BlockReason, CommissionStatus, PayoutStatus } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import type { Domain } from '../domains/domains.ts';
import type { Enrollment } from '../referrals/enrollments.ts';

/** The webhook events that records cause. Events of clicks and tracked orders come from the event log. */
export type RecordEvent =
  | { type: 'lead.created'; data: LeadData }
  | { type: 'lead.blocked'; data: LeadData & { block_reason: BlockReason } }
  | { type: 'sale.created' | 'sale.updated'; data: SaleData }
  | { type: 'commission.created'; data: CommissionData }
  | { type: 'commission.updated'; data: CommissionData & { previous_status: CommissionStatus } }
  | { type: CreditEvent; data: Record<string, unknown> }
  | { type: 'fulfilment.failed'; data: FailedFulfilmentData }
  | { type: 'payout.created' | 'payout.paid'; data: PayoutData }
  | { type: 'payout.failed'; data: PayoutData & FailedLineData }
  | { type: 'enrollment.created' | 'enrollment.payout_method_changed'; data: EnrollmentData }
  | { type: ApplicationEvent; data: ApplicationData }
  | { type: 'domain.failing'; data: FailingDomainData }
  | { type: 'webhook.disabled'; data: DisabledWebhookData };

/** Events whose data is an application. */
export type ApplicationEvent = 'application.created' | 'application.approved' | 'application.rejected';

export type FailingDomainData = Pick<
  Domain,
  'id' | 'domain' | 'status' | 'problem' | 'missing_since' | 'created_at'
>;

/** Events whose data is a credit grant. */
export type CreditEvent = 'credit.earned' | 'credit.delivered' | 'credit.revoked';

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
  /** Null: a bonus or claw-back. */
  order_id: string | null;
  level: number | null;
  /** The earned amount, in major units. */
  amount: number;
  /** The remainder after refunds, in major units. */
  remaining: number;
  currency: string;
  status: CommissionStatus;
  created_at: string;
};

export type FailedFulfilmentData = {
  fulfilment_id: string;
  delivery_id: string;
  provider: FulfilmentProvider;
  credit_id: number;
  program_id: string;
  partner_id: string;
  external_user_id: string;
  credit_kind: string;
  /** Number of credits. */
  amount: number;
  attempts: number;
  error: string;
  failed_at: string;
};

export type PayoutData = {
  id: string;
  program_id: string | null;
  status: PayoutStatus;
  /** Major units by currency. */
  totals: Record<string, number>;
  created_at: string;
};

export type FailedLineData = {
  partner_id: string;
  /** The refunded amount that was returned, in major units. */
  amount: number;
  currency: string;
  reason: string;
};

export type EnrollmentData = {
  partner_id: string;
  program_id: string;
  external_user_id: string;
  created_at: string;
};

/** Neither name nor address: an application is erased without its events. */
export type ApplicationData = {
  id: string;
  program_id: string;
  status: ApplicationStatus;
  /** The referrer; null: not approved. */
  partner_id: string | null;
  created_at: string;
};

export type DisabledWebhookData = {
  webhook_id: string;
  url: string;
  /** `gone`: the receiver responded with 410. `failing`: every attempt of five days failed. */
  reason: 'gone' | 'failing';
  disabled_at: string;
};

/** Returns a referrer as its events show it. */
export function enrollmentData(enrollment: Enrollment): EnrollmentData {
  return {
    partner_id: enrollment.id,
    program_id: enrollment.program_id,
    external_user_id: enrollment.external_user_id,
    created_at: enrollment.created_at.toISOString(),
  };
}

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

/** Queues an example of an event. Its data is of any form. */
export async function queueTestEvent(
  tx: Queryable,
  workspaceId: string,
  { id, type, created_at, data }: { id: string; type: string; created_at: string; data: object },
): Promise<void> {
  await tx.query(
    'INSERT INTO webhook_outbox (id, workspace_id, type, data, created_at, is_test) VALUES ($1, $2, $3, $4, $5, true)',
    [id, workspaceId, type, JSON.stringify(data), created_at],
  );
}
