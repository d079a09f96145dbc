import { uuidv7 } from '../../core/ids.ts';
import { toCredits } from '../../core/referrals/credits.ts';
import type { FulfilmentProvider, GrantDeliveryStatus } from '../../core/referrals/fulfilment.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** A delivery of a credit as it is shown. Instants are ISO 8601 with microseconds. */
export type GrantDelivery = {
  id: string;
  /** Also the cursor of the list, newest first. */
  credit_id: number;
  external_user_id: string;
  credit_kind: string;
  /** Number of credits. */
  amount: number;
  status: GrantDeliveryStatus;
  attempts: number;
  reference: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
  next_attempt_at: string | null;
  created_at: string;
  delivered_at: string | null;
};

const COLUMNS = `delivery.id, delivery.grant_id AS credit_id, credit.external_user_id, credit.credit_kind, credit.amount,
  delivery.status, delivery.attempts, delivery.reference, delivery.response_status, delivery.response_body,
  delivery.error, ${isoMicros('delivery.next_attempt_at')} AS next_attempt_at,
  ${isoMicros('delivery.created_at')} AS created_at, ${isoMicros('delivery.delivered_at')} AS delivered_at`;
const FROM = 'grant_deliveries AS delivery JOIN grants AS credit ON credit.id = delivery.grant_id';

const shown = (row: GrantDelivery): GrantDelivery => ({ ...row, amount: toCredits(row.amount) });

/** Returns the deliveries of a fulfilment, newest credit first. @param page.before a credit's id: older ones only */
export async function listGrantDeliveries(
  db: Queryable,
  workspaceId: string,
  fulfilmentId: string,
  page: { status: GrantDeliveryStatus | null; before: number | null; limit: number },
): Promise<GrantDelivery[]> {
  const { rows } = await db.query<GrantDelivery>(
    `SELECT ${COLUMNS} FROM ${FROM}
     WHERE delivery.workspace_id = $1 AND delivery.fulfilment_id = $2 AND ($3::text IS NULL OR delivery.status = $3)
       AND ($4::bigint IS NULL OR delivery.grant_id < $4)
     ORDER BY delivery.grant_id DESC LIMIT $5`,
    [workspaceId, fulfilmentId, page.status, page.before, page.limit],
  );
  return rows.map(shown);
}

/** Returns one delivery of a fulfilment, or null. */
export async function grantDeliveryById(
  db: Queryable,
  workspaceId: string,
  fulfilmentId: string,
  id: string,
): Promise<GrantDelivery | null> {
  const { rows } = await db.query<GrantDelivery>(
    `SELECT ${COLUMNS} FROM ${FROM}
     WHERE delivery.workspace_id = $1 AND delivery.fulfilment_id = $2 AND delivery.id = $3`,
    [workspaceId, fulfilmentId, id],
  );
  return rows[0] ? shown(rows[0]) : null;
}

export type DeliveryCounts = Record<GrantDeliveryStatus, number>;

/** Returns the number of deliveries of each fulfilment by status. */
export async function countGrantDeliveries(
  db: Queryable,
  workspaceId: string,
  fulfilmentIds: readonly string[],
): Promise<Map<string, DeliveryCounts>> {
  const { rows } = await db.query<{ fulfilment_id: string; status: GrantDeliveryStatus; count: number }>(
    `SELECT fulfilment_id, status, count(*) AS count FROM grant_deliveries
     WHERE workspace_id = $1 AND fulfilment_id = ANY ($2) GROUP BY fulfilment_id, status`,
    [workspaceId, fulfilmentIds],
  );
  const counts = new Map(
    fulfilmentIds.map((id) => [id, { pending: 0, delivered: 0, failed: 0, canceled: 0 }]),
  );
  for (const row of rows) {
    const of = counts.get(row.fulfilment_id);
    if (of) of[row.status] = row.count;
  }
  return counts;
}

/** SQL: now, or the end of a running attempt: two at a time could deliver twice. */
const DUE = (row: string) => `GREATEST(clock_timestamp(), ${row}.attempt_ends_at)`;

/**
 * Makes a failed or pending delivery due at once; the schedule of a failed one starts over. Returns false when it is
 * delivered or canceled, or its credit is not earned any more.
 */
export async function retryGrantDelivery(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE grant_deliveries AS delivery SET status = 'pending', next_attempt_at = ${DUE('delivery')},
       attempts = CASE delivery.status WHEN 'pending' THEN attempts ELSE 0 END
     FROM grants AS credit
     WHERE delivery.workspace_id = $1 AND delivery.id = $2 AND delivery.status IN ('pending', 'failed')
       AND credit.id = delivery.grant_id AND credit.status = 'earned'`,
    [workspaceId, id],
  );
  return rowCount === 1;
}

/**
 * Queues a grant for the fulfilment of its program, if there is one, in the transaction that earns it. The reference to
 * the program makes that transaction wait while a fulfilment is being created ({@link queueEarlierGrants}).
 */
export async function queueGrantDelivery(
  tx: Queryable,
  grant: { id: number; workspace_id: string; program_id: string },
  now: Date,
): Promise<void> {
  await tx.query(
    `INSERT INTO grant_deliveries (id, grant_id, workspace_id, fulfilment_id, next_attempt_at, created_at)
     SELECT $1, $2, $3, id, $5, $5 FROM fulfilments
     WHERE workspace_id = $3 AND program_id = $4 AND deleted_at IS NULL`,
    [uuidv7(), grant.id, grant.workspace_id, grant.program_id, now],
  );
}

const CANCELED = { revoked: 'the credit was revoked', delivered: 'the credit was marked delivered' } as const;

/**
 * Cancels the delivery of a grant that is no longer earned. A delivery that an attempt may have delivered stays: a
 * pending one for the worker to decide, a failed one of a revoked grant for a person to check. The row's lock orders
 * this call and the worker's claim.
 */
export async function cancelGrantDelivery(
  tx: Queryable,
  grantId: number,
  grantStatus: keyof typeof CANCELED,
): Promise<void> {
  await tx.query(
    `UPDATE grant_deliveries SET status = 'canceled', error = $2, next_attempt_at = NULL
     WHERE grant_id = $1 AND ((status IN ('pending', 'failed') AND uncertain_since IS NULL) OR (status = 'failed' AND $3))`,
    [grantId, CANCELED[grantStatus], grantStatus === 'delivered'],
  );
}

const CHUNK = 5_000;

/**
 * Queues the grants of a program that were earned before its fulfilment. It waits for running transactions that earn
 * one, and blocks others until it ends, so that no grant is missed.
 *
 * A failed delivery of a deleted fulfilment is taken over. One that an attempt may have delivered is taken over only by
 * the same provider, where its id keeps the receiver from counting it twice.
 *
 * @returns how many were queued
 */
export async function queueEarlierGrants(
  tx: Queryable,
  workspaceId: string,
  fulfilment: { id: string; provider: FulfilmentProvider; programId: string },
): Promise<number> {
  const { rows } = await tx.query<{ id: number }>(
    `SELECT id FROM grants WHERE workspace_id = $1 AND program_id = $2 AND status = 'earned' ORDER BY id`,
    [workspaceId, fulfilment.programId],
  );
  let queued = 0;
  for (let from = 0; from < rows.length; from += CHUNK) {
    const chunk = rows.slice(from, from + CHUNK).map(({ id }) => id);
    const { rowCount } = await tx.query(
      `INSERT INTO grant_deliveries AS known (id, grant_id, workspace_id, fulfilment_id, next_attempt_at, created_at)
       SELECT id, grant_id, $1, $2, clock_timestamp(), clock_timestamp()
       FROM unnest($3::uuid[], $4::bigint[]) AS earlier (id, grant_id)
       ON CONFLICT (grant_id) DO UPDATE SET fulfilment_id = EXCLUDED.fulfilment_id, status = 'pending', attempts = 0,
         error = NULL, response_status = NULL, response_body = NULL, next_attempt_at = ${DUE('known')}
       WHERE known.status = 'failed' AND EXISTS (
         SELECT FROM fulfilments AS former WHERE former.id = known.fulfilment_id AND former.deleted_at IS NOT NULL
           AND (known.uncertain_since IS NULL OR former.provider = $5))`,
      [workspaceId, fulfilment.id, chunk.map(() => uuidv7()), chunk, fulfilment.provider],
    );
    queued += rowCount ?? 0;
  }
  return queued;
}
