import type { Queryable } from '../database/pool.ts';
import { FULFILMENTS_WITH_DUE_DELIVERIES } from '../fulfilments/delivery-queue.ts';
import { IS_SPLIT_DUE } from '../links/splits.ts';
import { HAS_WORK } from './click-imports.ts';

/** Tells which jobs have work, for any worker, due or not. */
export type PendingWork = {
  /** Reports whose visitors are not known for certain yet. */
  waitingReports: boolean;
  /** Orders whose attributed shares are not in ClickHouse. */
  attribution: boolean;
  /** Identifies that may be leads. */
  leads: boolean;
  /** Signups that the watermark may resolve. */
  pendingSignups: boolean;
  /** Orders that are not qualified. */
  trackedPurchases: boolean;
  /** Refunds that were reported before their order. */
  earlyRefunds: boolean;
  /** Orders whose row in ClickHouse is to be written. */
  orderPublications: boolean;
  /** Splits of links that have ended and have no winner. */
  splits: boolean;
  /** Events of billing providers that are not processed. */
  connectionEvents: boolean;
  /** Payments of billing providers that are due without an event. */
  connectionPayments: boolean;
  /** Discount codes that are to be made or ended at a provider. */
  promotionCodes: boolean;
  /** Events that are not turned into deliveries of webhooks. */
  webhookEvents: boolean;
  /** Clicks that wait for the batch of a webhook. */
  webhookBatches: boolean;
  /** Deliveries of credits that are due. */
  fulfilments: boolean;
  /** Mails that are due. */
  mails: boolean;
  /** Reports that are due, or requested now. */
  reports: boolean;
  /** Alerts that are due for their check. */
  alerts: boolean;
  /** What affiliates are to be told by mail. */
  affiliateNotices: boolean;
  /** Messages to chats that are due. */
  chatMessages: boolean;
  /** Commissions whose hold period is over. */
  maturedCommissions: boolean;
  /** Corrections of a stream's times that are not done. */
  clockCorrections: boolean;
  /** Imports of clicks that roll-ups may not contain, or that were undone and are not removed. */
  clickImports: boolean;
  /** Destinations whose title and icon are to be fetched. */
  destinationPages: boolean;
  /** Stored deliveries of webhooks, most of which wait for their next attempt. */
  webhookDeliveries: boolean;
};

/**
 * Returns which jobs have work, in one statement: an idle worker polls it.
 *
 * @param now of the clock of deliveries, milliseconds since the epoch
 */
export async function pendingWork(db: Queryable, now: number): Promise<PendingWork> {
  const { rows } = await db.query<PendingWork>({
    name: 'pending_work',
    text: `SELECT
      EXISTS (SELECT FROM waiting_reports) AS "waitingReports",
      EXISTS (SELECT FROM orders WHERE attributed_version IS DISTINCT FROM version) AS attribution,
      EXISTS (SELECT FROM leads WHERE attributed_at IS NULL) AS leads,
      EXISTS (SELECT FROM signups WHERE state = 'pending') AS "pendingSignups",
      EXISTS (SELECT FROM orders WHERE source = 'server' AND referral_evaluated_at IS NULL) AS "trackedPurchases",
      EXISTS (SELECT FROM early_refunds) AS "earlyRefunds",
      EXISTS (SELECT FROM order_publications WHERE due_at <= now()) AS "orderPublications",
      EXISTS (SELECT FROM links WHERE ${IS_SPLIT_DUE} AND split_ends_at <= now()) AS splits,
      EXISTS (SELECT FROM connection_events WHERE status = 'pending' AND due_at <= now()) AS "connectionEvents",
      EXISTS (SELECT FROM connection_payments WHERE due_at <= now()) AS "connectionPayments",
      EXISTS (SELECT FROM promotion_codes WHERE next_attempt_at <= now()) AS "promotionCodes",
      EXISTS (SELECT FROM webhook_outbox) AS "webhookEvents",
      EXISTS (SELECT FROM webhook_batched_clicks) AS "webhookBatches",
      EXISTS (SELECT ${FULFILMENTS_WITH_DUE_DELIVERIES}) AS fulfilments,
      EXISTS (SELECT FROM mails WHERE status = 'pending' AND next_attempt_at <= to_timestamp($1::float8 / 1000)) AS mails,
      EXISTS (SELECT FROM reports WHERE due_at <= to_timestamp($1::float8 / 1000)) AS reports,
      EXISTS (SELECT FROM alerts WHERE due_at <= to_timestamp($1::float8 / 1000)) AS alerts,
      EXISTS (SELECT FROM affiliate_notices
        WHERE settled_at IS NULL AND due_at <= to_timestamp($1::float8 / 1000)) AS "affiliateNotices",
      EXISTS (SELECT FROM chat_messages WHERE status = 'pending'
        AND next_attempt_at <= to_timestamp($1::float8 / 1000)) AS "chatMessages",
      EXISTS (SELECT FROM commissions WHERE status = 'pending' AND eligible_at <= now()) AS "maturedCommissions",
      EXISTS (SELECT FROM replica_corrections) AS "clockCorrections",
      EXISTS (SELECT FROM click_imports WHERE ${HAS_WORK})
        OR EXISTS (SELECT FROM workspace_imports WHERE roll_up_due < now() - interval '5 seconds') AS "clickImports",
      EXISTS (SELECT FROM destination_pages WHERE due_at <= now()) AS "destinationPages",
      -- Ordered, so that the plan is the index's: most deliveries of this table are done.
      (SELECT webhook_id FROM webhook_deliveries WHERE status = 'pending'
       ORDER BY webhook_id, next_attempt_at LIMIT 1) IS NOT NULL AS "webhookDeliveries"`,
    values: [now],
  });
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL returned no row for a SELECT without FROM');
  return row;
}
