import type { Part, Payer, PaymentFact } from '../../core/connections/connector.ts';
import { joinedParts, type Parts, paymentState, withPart } from '../../core/connections/payment-parts.ts';
import type { Provider } from '../../core/connections/providers.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import type { Connection } from './connections.ts';
import type { Outcome } from './events.ts';

/** A payment at a provider, with the facts of all of its events. */
export type ConnectionPayment = Outcome & {
  id: string;
  workspace_id: string;
  provider: Provider;
  refs: string[];
  customer_id: string | null;
  account_id: string | null;
  subscription_id: string | null;
  parts: Parts;
  /** Null: no event has the amount yet. */
  paid_at: Date | null;
  /** The buyer that a merchant assigned. */
  assigned_user: string | null;
  order_internal_id: number | null;
  /** The facts that the payment wrote to its order; null: none, or an earlier manual report stays. */
  recorded: RecordedFacts | null;
  /** When it was first told of, or when two objects that each have an amount turned out to be one payment. */
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

const COLUMNS = `id, workspace_id, provider, refs, customer_id, account_id, subscription_id, parts, paid_at, assigned_user,
  order_internal_id, recorded, status, reason, created_at`;

/**
 * Adds an event's facts to its payment, and joins payments that the event names together. Only this function decides
 * which payment an event belongs to. Of joined payments the one with the oldest order stays; `joinOrders` reverses the
 * orders of the others. A join restarts the time in which events may change the buyer, because its end must not
 * depend on when ids are joined. The caller has locked the account.
 */
export async function putPaymentFact(
  tx: Queryable,
  connection: Connection,
  fact: PaymentFact,
  now: Date,
): Promise<ConnectionPayment> {
  const { rows: known } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE workspace_id = $1 AND provider = $2 AND refs && $3
     ORDER BY order_internal_id NULLS LAST, created_at, id`,
    [connection.workspace_id, connection.provider, fact.refs],
  );
  const [first, ...others] = known;
  const all = known.reduce(
    (joined, one) => ({
      refs: [...joined.refs, ...one.refs],
      parts: joinedParts(joined.parts, one.parts),
      customer_id: joined.customer_id ?? one.customer_id,
      account_id: joined.account_id ?? one.account_id,
      subscription_id: joined.subscription_id ?? one.subscription_id,
      assigned_user: joined.assigned_user ?? one.assigned_user,
    }),
    {
      refs: [...fact.refs],
      parts: {} as Parts,
      customer_id: fact.customer,
      account_id: fact.account ?? null,
      subscription_id: fact.subscription,
      assigned_user: null as string | null,
    },
  );
  const parts = withPart(all.parts, fact);
  const sold = known.filter((one) => hasSale(Object.values(one.parts))).length;
  const isJoin = sold > 1 || (sold === 1 && !(fact.part in all.parts) && hasSale([fact.is]));
  const paidAt = paymentState(parts, true).sale?.paidAt;
  for (const other of others) await replacePayment(tx, other.id, first?.id ?? null);
  const { rows } = await tx.query<ConnectionPayment>(
    `INSERT INTO connection_payments (id, workspace_id, provider, connection_id, refs, customer_id, account_id,
       subscription_id, parts, paid_at, assigned_user, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (id) DO UPDATE SET connection_id = excluded.connection_id, refs = excluded.refs,
       customer_id = excluded.customer_id, account_id = excluded.account_id,
       subscription_id = excluded.subscription_id, parts = excluded.parts, paid_at = excluded.paid_at,
       assigned_user = excluded.assigned_user, created_at = excluded.created_at
     RETURNING ${COLUMNS}`,
    [
      first?.id ?? uuidv7(),
      connection.workspace_id,
      connection.provider,
      connection.id,
      [...new Set(all.refs)].sort(),
      all.customer_id,
      all.account_id,
      all.subscription_id,
      parts,
      paidAt === undefined ? null : new Date(paidAt),
      all.assigned_user,
      first && !isJoin ? new Date(Math.min(...known.map(({ created_at }) => created_at.getTime()))) : now,
    ],
  );
  if (!rows[0]) throw new Error('the payment was not written');
  return rows[0];
}

const hasSale = (parts: readonly Part[]): boolean => parts.some(({ sale }) => sale !== undefined);

async function replacePayment(tx: Queryable, id: string, by: string | null): Promise<void> {
  await tx.query('UPDATE connection_events SET payment_id = $2 WHERE payment_id = $1', [id, by]);
  await tx.query('DELETE FROM connection_payments WHERE id = $1', [id]);
}

/** A workspace's account at a provider, in which the provider's ids are unique. */
export type ProviderAccount = Pick<Connection, 'workspace_id' | 'provider'>;

/** Returns the payment with one of these ids, or null. */
export async function paymentWithRef(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  ref: string,
): Promise<ConnectionPayment | null> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE workspace_id = $1 AND provider = $2 AND refs && ARRAY[$3]`,
    [workspace_id, provider, ref],
  );
  return rows[0] ?? null;
}

/** Returns the payment with this id, or null. */
export async function paymentById(tx: Queryable, id: string): Promise<ConnectionPayment | null> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/** Returns the payments with these ids, in no order. */
export async function paymentsById(tx: Queryable, ids: readonly string[]): Promise<ConnectionPayment[]> {
  if (ids.length === 0) return [];
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE id = ANY ($1)`,
    [ids],
  );
  return rows;
}

/** SQL: whether a payment belongs to one of the payers of `payerColumns`. */
const OF_PAYER = `(customer_id = $3 OR account_id = $4 OR subscription_id = $5)`;
const payerColumns = ({ customer, account = null, subscription }: Payer) => [customer, account, subscription];

/** Returns the payer of a payment. */
export const payerOf = (payment: ConnectionPayment): Payer => ({
  customer: payment.customer_id,
  account: payment.account_id,
  subscription: payment.subscription_id,
});

/** Returns the payments of a payer that events may still change, oldest first. */
export async function openPaymentsOfPayer(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  payer: Payer,
  since: Date,
): Promise<ConnectionPayment[]> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE workspace_id = $1 AND provider = $2 AND ${OF_PAYER}
       AND created_at >= $6 ORDER BY created_at, id`,
    [workspace_id, provider, ...payerColumns(payer), since],
  );
  return rows;
}

/** Reschedules the payments of a payer that events may still change, because their buyer has been named. */
export async function settleSoon(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  payer: Payer,
  since: Date,
): Promise<void> {
  await tx.query(
    `UPDATE connection_payments SET due_at = clock_timestamp() WHERE workspace_id = $1 AND provider = $2 AND ${OF_PAYER}
       AND created_at >= $6`,
    [workspace_id, provider, ...payerColumns(payer), since],
  );
}

/** The buyer of an earlier purchase. `couponId` is set when a coupon referred the purchase, not the buyer's signup. */
export type EarlierBuyer = { user: string | null; couponId: string | null };

/**
 * Returns the buyer of the latest earlier purchase of the payer, or null. A purchase without a referrer counts only if
 * its buyer has signed up.
 */
export async function buyerOfEarlier(
  tx: Queryable,
  payment: ConnectionPayment,
  paidAt: Date,
): Promise<EarlierBuyer | null> {
  const { rows } = await tx.query<EarlierBuyer>(
    `SELECT p.external_user_id AS user, CASE WHEN p.signup_id IS NULL THEN p.coupon_id END AS "couponId"
     FROM connection_payments other JOIN purchases p ON p.order_internal_id = other.order_internal_id
     WHERE other.workspace_id = $1 AND other.provider = $2 AND ${OF_PAYER} AND other.id <> $6
       AND (other.paid_at, other.id) < ($7, $6) AND (p.enrollment_id IS NOT NULL OR EXISTS (
         SELECT FROM signups s WHERE s.workspace_id = $1 AND s.external_user_id = p.external_user_id))
     ORDER BY other.paid_at DESC, other.id DESC LIMIT 1`,
    [payment.workspace_id, payment.provider, ...payerColumns(payerOf(payment)), payment.id, paidAt],
  );
  return rows[0] ?? null;
}

/** Returns the payments that name one of these discount codes and that events may still change, oldest first. */
export async function openPaymentsWithCode(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  codeId: string,
  since: Date,
): Promise<ConnectionPayment[]> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE workspace_id = $1 AND provider = $2 AND created_at >= $4
       AND EXISTS (SELECT FROM jsonb_each(parts) AS part WHERE part.value -> 'codes' ? $3)
     ORDER BY created_at, id`,
    [workspace_id, provider, codeId, since],
  );
  return rows;
}

/** Returns the payments of a subscription, oldest first. */
export async function paymentsOfSubscription(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
  subscriptionId: string,
): Promise<ConnectionPayment[]> {
  const { rows } = await tx.query<ConnectionPayment>(
    `SELECT ${COLUMNS} FROM connection_payments WHERE workspace_id = $1 AND provider = $2 AND subscription_id = $3
     ORDER BY created_at, id`,
    [workspace_id, provider, subscriptionId],
  );
  return rows;
}

/**
 * Records the outcome of a payment, and gives it to the payment's events too.
 *
 * @param result.dueAt when it is processed again; null: only with an event
 * @param result.names names that may identify its buyer later; null: none
 */
export async function settledPayment(
  tx: Queryable,
  id: string,
  result: Outcome & { dueAt: Date | null; names: readonly string[] | null },
): Promise<void> {
  await tx.query(
    `WITH settled AS (
       UPDATE connection_payments SET status = $2, reason = $3, due_at = $4, names = $5 WHERE id = $1)
     UPDATE connection_events SET status = $2, reason = $3
     WHERE payment_id = $1 AND status IN ('recorded', 'unmatched', 'ignored', 'failed')
       AND (status, reason) IS DISTINCT FROM ($2, $3)`,
    [id, result.status, result.reason, result.dueAt, result.names],
  );
}

/** Records the order of a payment, and the facts that the payment wrote to it. */
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

export type DuePayment = Pick<ConnectionPayment, 'id' | 'workspace_id' | 'provider' | 'created_at'> & {
  /** The connection of the payment's latest event. */
  connection_id: string;
};

/** Returns a payment that is due without an event, or null. */
export async function nextDuePayment(db: Queryable, except: readonly string[]): Promise<DuePayment | null> {
  const { rows } = await db.query<DuePayment>(
    `SELECT id, workspace_id, provider, connection_id, created_at FROM connection_payments WHERE due_at <= clock_timestamp() AND id <> ALL ($1)
     ORDER BY due_at LIMIT 1`,
    [except],
  );
  return rows[0] ?? null;
}

/** Reschedules payments that waited for an invoice while their account was not connected. */
export async function resumePayments(
  tx: Queryable,
  { workspace_id, provider }: ProviderAccount,
): Promise<void> {
  await tx.query(
    `UPDATE connection_payments SET due_at = clock_timestamp()
     WHERE workspace_id = $1 AND provider = $2 AND due_at IS NULL AND reason = 'waits_for_invoice'`,
    [workspace_id, provider],
  );
}

/** Reschedules a payment; null: it waits for an event. */
export async function postponePayment(db: Queryable, id: string, dueAt: Date | null): Promise<void> {
  await db.query('UPDATE connection_payments SET due_at = $2 WHERE id = $1', [id, dueAt]);
}
