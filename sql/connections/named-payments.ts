import type { Queryable } from '../database/pool.ts';

/** Prefixes of users' ids, emails, and visitors in `connection_payments.names`. */
export const NAMES = { user: 'user:', email: 'email:', visitor: 'visitor:' } as const;

/** The payment that was looked at last. `createdAt` in the words of PostgreSQL, with its microseconds. */
export type PaymentCursor = { id: string; createdAt: string };

/**
 * How many payments a query looks at. Buyers without a referrer are most of a shop's, and their payments wait for 72
 * hours. With 200,000 such payments of a user, an email, and a visitor each, beside 200,000 signups and as many
 * identities, a query takes 13 ms of CPU, every 5 seconds (November 2026). One that looked at all of them took 3.4 s.
 */
const CHUNK = 500;

const value = (name: string) => `substr(name, ${name.length + 1})`;
const SIGNED_UP = `s.workspace_id = p.workspace_id AND (NOT p.has_coupon OR s.state <> 'unmatched')`;
const BY_IDENTITY = `EXISTS (SELECT FROM identities i JOIN signups s ON s.external_user_id = i.server_user_id
  WHERE ${SIGNED_UP} AND i.workspace_id = p.workspace_id`;
/**
 * SQL: whether a name of a payment is of a user who signed up; with a coupon, through a referrer. As `buyerOfPayment`
 * finds it.
 */
const IS_KNOWN = `CASE
  WHEN name LIKE '${NAMES.user}%' THEN
    EXISTS (SELECT FROM signups s WHERE ${SIGNED_UP} AND s.external_user_id = ${value(NAMES.user)})
  WHEN name LIKE '${NAMES.email}%' THEN
    EXISTS (SELECT FROM signups s WHERE ${SIGNED_UP} AND lower(s.email) = lower(${value(NAMES.email)}))
    OR ${BY_IDENTITY} AND i.email = lower(${value(NAMES.email)}))
  WHEN name LIKE '${NAMES.visitor}%' THEN
    EXISTS (SELECT FROM signups s WHERE ${SIGNED_UP} AND s.visitor_id = ${value(NAMES.visitor)}::uuid)
    OR ${BY_IDENTITY} AND i.visitor_id = ${value(NAMES.visitor)}::uuid)
    OR EXISTS (SELECT FROM visitor_users v JOIN signups s ON s.external_user_id = v.external_user_id
               WHERE ${SIGNED_UP} AND v.workspace_id = p.workspace_id AND v.visitor_id = ${value(NAMES.visitor)}::uuid
                 AND v.by_server)
END`;

/**
 * Reschedules payments that events may still change and whose buyer was named after them: by a signup, by a manual
 * report, or by a server's report of their email or visitor. So the code that names a buyer needs no payments, and
 * takes none of their locks.
 *
 * @param after where the query before ended; null: at the oldest payment
 * @param limit how many payments it looks at
 * @returns where the next one begins; null: this one has looked at the newest payment
 */
export async function settleNamed(
  db: Queryable,
  since: Date,
  after: PaymentCursor | null,
  limit = CHUNK,
): Promise<PaymentCursor | null> {
  const { rows } = await db.query<PaymentCursor & { isNamed: boolean }>(
    `WITH p AS MATERIALIZED (
       SELECT id, created_at, workspace_id, provider, order_internal_id, names, status, reason, due_at,
         recorded ->> 'coupon' IS NOT NULL AS has_coupon
       FROM connection_payments
       WHERE names IS NOT NULL AND created_at > $1 AND (created_at, id) > ($2::timestamptz, $3::uuid)
       ORDER BY created_at, id LIMIT $4
     )
     SELECT id, created_at::text AS "createdAt", due_at IS NULL
         AND (EXISTS (SELECT FROM unnest(names) AS name WHERE ${IS_KNOWN})
           OR status = 'unmatched' AND reason <> 'refund_in_other_currency'
             AND EXISTS (SELECT FROM purchases b
                         WHERE b.order_internal_id = p.order_internal_id AND b.enrollment_id IS NOT NULL))
         AND EXISTS (SELECT FROM connections n
                     WHERE n.workspace_id = p.workspace_id AND n.provider = p.provider AND n.deleted_at IS NULL)
         AS "isNamed"
     FROM p ORDER BY created_at, id`,
    [since, after?.createdAt ?? since, after?.id ?? NIL, limit],
  );
  const named = rows.flatMap(({ id, isNamed }) => (isNamed ? [id] : []));
  if (named.length > 0) await settleNow(db, named);
  const last = rows.at(-1);
  return last && rows.length === limit ? { id: last.id, createdAt: last.createdAt } : null;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** Skips locked payments, which are being settled. If they still wait afterwards, the next query finds them. */
async function settleNow(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query(
    `UPDATE connection_payments SET due_at = clock_timestamp() WHERE id = ANY (ARRAY(
       SELECT id FROM connection_payments WHERE id = ANY ($1) AND names IS NOT NULL AND due_at IS NULL
       FOR NO KEY UPDATE SKIP LOCKED))`,
    [ids],
  );
}
