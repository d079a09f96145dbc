import type { PaymentFact } from '../../core/connections/connector.ts';
import { joinedParts, type Parts, withPart } from '../../core/connections/payment-parts.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import type { Connection } from './connections.ts';
import type { Outcome } from './events.ts';

/** A payment of a connection, with all that events have said of it. */
export type ConnectionPayment = Outcome & {
  id: string;
  workspace_id: string;
  connection_id: string;
  refs: string[];
  customer_id: string | null;
  subscription_id: string | null;
  parts: Parts;
  /** The buyer that a merchant assigned. */
  assigned_user: string | null;
  order_internal_id: number | null;
  /** What the payment wrote of its order; null: nothing, or a report by hand was first and stays. */
  recorded: RecordedFacts | null;
  created_at: Date;
};

/** The facts of an order that later events may change. */
export type RecordedFacts = {
  user: string | null;
  amountMinor: number;
  commissionableMinor: number;
  isRenewal: boolean;
  /** Id of the coupon that the order used. */
  coupon?: string | null;
  /** Whether a referrer of the buyer came before the coupon; null: no coupon. */
  yields?: boolean | null;
};

const COLUMNS = `id, workspace_id, connection_id, refs, customer_id, subscription_id, parts, assigned_user,
  order_internal_id, recorded, status, reason, created_at`;

/**
 * Adds what an event says to its payment, and joins payments that the event names together. The caller has locked the
 * connection.
 */
export async function putPaymentFact(
  tx: Queryable,
  connection: Connection,
  fact: PaymentFact,
  now: Date,
): Promise<ConnectionPayment> {
  const { rows: known } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE connection_id = $1 AND refs && $2
     ORDER BY order_internal_id IS NULL, created_at, id`,
    [connection.id, fact.refs],
  );
  const [first, ...others] = known;
  const all = known.reduce<Pick<ConnectionPayment, 'refs' | 'parts' | 'customer_id' | 'subscription_id'>>(
    (joined, one) => ({
      refs: [...joined.refs, ...one.refs],
      parts: joinedParts(joined.parts, one.parts),
      customer_id: joined.customer_id ?? one.customer_id,
      subscription_id: joined.subscription_id ?? one.subscription_id,
    }),
    { refs: [...fact.refs], parts: {}, customer_id: fact.customer, subscription_id: fact.subscription },
  );
  const values = [
    [...new Set(all.refs)].sort(),
    all.customer_id,
    all.subscription_id,
    withPart(all.parts, fact),
  ] as const;
  for (const other of others) await replacePayment(tx, other.id, first?.id ?? null);
  const { rows } = first
    ? await tx.query<ConnectionPayment>(
        `UPDATE connection_payments SET refs = $2, customer_id = $3, subscription_id = $4, parts = $5,
           assigned_user = coalesce(assigned_user, $6), created_at = least(created_at, $7)
         WHERE id = $1 RETURNING ${COLUMNS}`,
        [
          first.id,
          ...values,
          others.find((one) => one.assigned_user !== null)?.assigned_user ?? null,
          new Date(Math.min(...known.map((one) => one.created_at.getTime()))),
        ],
      )
    : await tx.query<ConnectionPayment>(
        `INSERT INTO connection_payments (id, refs, customer_id, subscription_id, parts, workspace_id, connection_id,
           created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
        [uuidv7(), ...values, connection.workspace_id, connection.id, now],
      );
  if (!rows[0]) throw new Error('the payment was not written');
  return rows[0];
}

async function replacePayment(tx: Queryable, id: string, by: string | null): Promise<void> {
  await tx.query('UPDATE connection_events SET payment_id = $2 WHERE payment_id = $1', [id, by]);
  await tx.query('DELETE FROM connection_payments WHERE id = $1', [id]);
}

/** Returns the payment with this id, or null. */
export async function paymentById(tx: Queryable, id: string): Promise<ConnectionPayment | null> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** Returns the payments of a customer that events may still change, oldest first. */
export async function openPaymentsOfCustomer(
  tx: Queryable,
  connectionId: string,
  customerId: string,
  since: Date,
): Promise<ConnectionPayment[]> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE connection_id = $1 AND customer_id = $2 AND created_at >= $3
     ORDER BY created_at, id`,
    [connectionId, customerId, since],
  );
  return rows;
}

/** Returns the payments that name one of these discount codes and that events may still change, oldest first. */
export async function openPaymentsWithCode(
  tx: Queryable,
  connectionId: string,
  codeId: string,
  since: Date,
): Promise<ConnectionPayment[]> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE connection_id = $1 AND created_at >= $3
       AND EXISTS (SELECT FROM jsonb_each(parts) AS part WHERE part.value -> 'codes' ? $2)
     ORDER BY created_at, id`,
    [connectionId, codeId, since],
  );
  return rows;
}

/** Returns the payments of a subscription, oldest first. */
export async function paymentsOfSubscription(
  tx: Queryable,
  connectionId: string,
  subscriptionId: string,
): Promise<ConnectionPayment[]> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE connection_id = $1 AND subscription_id = $2
     ORDER BY created_at, id`,
    [connectionId, subscriptionId],
  );
  return rows;
}

/** Records what became of a payment. @param result.dueAt when it is looked at again; null: not without an event */
export async function settledPayment(
  tx: Queryable,
  id: string,
  result: Outcome & { dueAt: Date | null },
): Promise<void> {
  await tx.query('UPDATE connection_payments SET status = $2, reason = $3, due_at = $4 WHERE id = $1', [
    id,
    result.status,
    result.reason,
    result.dueAt,
  ]);
}

/** Records the order of a payment, and what the payment wrote of it. */
export async function recordPaymentOrder(
  tx: Queryable,
  id: string,
  orderInternalId: number,
  recorded: RecordedFacts | null,
): Promise<void> {
  await tx.query('UPDATE connection_payments SET order_internal_id = $2, recorded = $3 WHERE id = $1', [
    id,
    orderInternalId,
    recorded,
  ]);
}

/** Records the buyer that a merchant assigned to a payment. */
export async function assignPayment(tx: Queryable, id: string, user: string): Promise<void> {
  await tx.query('UPDATE connection_payments SET assigned_user = $2 WHERE id = $1', [id, user]);
}

export type DuePayment = Pick<ConnectionPayment, 'id' | 'connection_id' | 'refs' | 'created_at'>;

/** Returns a payment that is due without an event, or null. */
export async function nextDuePayment(db: Queryable, except: readonly string[]): Promise<DuePayment | null> {
  const { rows } = await db.query<DuePayment>(
    `SELECT id, connection_id, refs, created_at FROM connection_payments WHERE due_at <= clock_timestamp() AND id <> ALL ($1)
     ORDER BY due_at LIMIT 1`,
    [except],
  );
  return rows[0] ?? null;
}

/** Has a payment looked at again later; null: not without an event. */
export async function postponePayment(db: Queryable, id: string, dueAt: Date | null): Promise<void> {
  await db.query('UPDATE connection_payments SET due_at = $2 WHERE id = $1', [id, dueAt]);
}
