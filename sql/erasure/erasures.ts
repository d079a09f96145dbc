import type { Queryable } from '../database/pool.ts';
import {
  forgetBuyersInDeliveries,
  forgetUsersInDeliveries,
  forgetVisitorsInDeliveries,
} from './erased-deliveries.ts';

/** A visitor, or a deleted bio button's link, whose history must be erased from PostgreSQL and ClickHouse. */
export type Erasure = {
  id: number;
  workspaceId: string;
  kind: 'visitor' | 'link';
  targetId: string;
  /** Microseconds since the epoch. */
  requestedAt: number;
  /** Emails and users that only this visitor had. */
  names: Names;
};

/** Names that an order may have instead of a visitor. */
export type Names = { emails: string[]; users: string[] };

/**
 * Requests an erasure. A repeated request runs it again: the target may have new events.
 *
 * @param given.names emails and users that only the visitor has, stored until the erasure is done
 */
export async function requestErasure(
  db: Queryable,
  given: Pick<Erasure, 'workspaceId' | 'kind' | 'targetId'> & { names?: Names },
): Promise<void> {
  await db.query(
    `INSERT INTO erasures AS known (workspace_id, kind, target_id, emails, users) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, kind, target_id) DO UPDATE SET requested_at = now(), done_at = NULL,
       emails = known.emails || EXCLUDED.emails, users = known.users || EXCLUDED.users`,
    [given.workspaceId, given.kind, given.targetId, given.names?.emails ?? [], given.names?.users ?? []],
  );
}

/** Returns unfinished erasures, oldest first, with ids above `after`. */
export async function openErasures(db: Queryable, limit: number, after = 0): Promise<Erasure[]> {
  const { rows } = await db.query<{
    id: number;
    workspace_id: string;
    kind: Erasure['kind'];
    target_id: string;
    requested_at: number;
    emails: string[];
    users: string[];
  }>(
    `SELECT id, workspace_id, kind, target_id, (extract(epoch FROM requested_at) * 1000000)::bigint AS requested_at,
       emails, users FROM erasures WHERE done_at IS NULL AND id > $2 ORDER BY id LIMIT $1`,
    [limit, after],
  );
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    kind: row.kind,
    targetId: row.target_id,
    requestedAt: row.requested_at,
    names: { emails: row.emails, users: row.users },
  }));
}

/** Tables whose rows an erasure of a visitor deletes, and the column with the visitor. */
const VISITORS_IN = [
  ['identities', 'visitor_id'],
  ['visitor_users', 'visitor_id'],
  ['joined_visitors', 'visitor_id'],
  ['joined_visitors', 'other_visitor_id'],
  ['leads', 'visitor_id'],
] as const;

/**
 * Erases visitors from PostgreSQL: whole identities, the visitor's fields of orders, all of signups except the user's
 * id (which the ledger needs), and the same fields of webhooks' leads and sales. {@link deleteErasedDeliveries} erases
 * clicks of webhooks.
 *
 * @returns the number of orders
 */
export async function forgetVisitors(
  db: Queryable,
  erasures: readonly Pick<Erasure, 'workspaceId' | 'kind' | 'targetId'>[],
): Promise<number> {
  const visitors = erasures.filter((erasure) => erasure.kind === 'visitor');
  const parameters = [
    visitors.map((erasure) => erasure.workspaceId),
    visitors.map((erasure) => erasure.targetId),
  ];
  for (const [table, column] of VISITORS_IN) {
    await db.query(
      `DELETE FROM ${table} AS known USING unnest($1::uuid[], $2::uuid[]) AS erased (workspace_id, visitor_id)
       WHERE known.workspace_id = erased.workspace_id AND known.${column} = erased.visitor_id`,
      parameters,
    );
  }
  await db.query(
    `UPDATE orders SET other_visitor_ids = array_remove(other_visitor_ids, erased.visitor_id)
     FROM unnest($1::uuid[], $2::uuid[]) AS erased (workspace_id, visitor_id)
     WHERE orders.workspace_id = erased.workspace_id AND orders.other_visitor_ids @> ARRAY[erased.visitor_id]
       AND orders.other_visitor_ids <> '{}'`,
    parameters,
  );
  await db.query(
    `WITH forgotten AS (
       UPDATE signups SET visitor_id = NULL, email = NULL, mailbox = NULL, device_id = NULL, address_hash = NULL
       FROM unnest($1::uuid[], $2::uuid[]) AS erased (workspace_id, visitor_id)
       WHERE signups.workspace_id = erased.workspace_id AND signups.visitor_id = erased.visitor_id RETURNING id
     )
     UPDATE purchases SET email = NULL FROM forgotten WHERE signup_id = forgotten.id AND email IS NOT NULL`,
    parameters,
  );
  await forgetVisitorsInDeliveries(db, visitors);
  return forgetOrders(
    db,
    `EXISTS (SELECT FROM unnest($1::uuid[], $2::uuid[]) AS erased (workspace_id, visitor_id)
       WHERE orders.workspace_id = erased.workspace_id
         AND coalesce(orders.visitor_id, orders.pixel_visitor_id, orders.signup_visitor_id) = erased.visitor_id)`,
    parameters,
  );
}

/**
 * Clears the buyer's fields of orders, and of the sales of their webhooks. Sales come first, because they are found by
 * the orders.
 *
 * @param condition SQL, of `orders`
 * @returns the number of orders
 */
async function forgetOrders(
  db: Queryable,
  condition: string,
  parameters: readonly unknown[],
): Promise<number> {
  const { rows } = await db.query<{ internal_id: number; workspaceId: string; orderId: string }>(
    `SELECT internal_id, workspace_id AS "workspaceId", order_id AS "orderId" FROM orders WHERE ${condition}`,
    [...parameters],
  );
  if (rows.length === 0) return 0;
  await forgetBuyersInDeliveries(db, rows);
  await db.query('DELETE FROM unmatched_orders WHERE order_internal_id = ANY ($1::bigint[])', [
    rows.map((row) => row.internal_id),
  ]);
  const { rowCount } = await db.query(
    `UPDATE orders SET visitor_id = NULL, pixel_visitor_id = NULL, signup_visitor_id = NULL, other_visitor_ids = '{}',
       email = NULL, external_user_id = NULL
     WHERE ${condition} AND internal_id = ANY ($${parameters.length + 1}::bigint[])`,
    [...parameters, rows.map((row) => row.internal_id)],
  );
  return rowCount ?? 0;
}

/** Returns the emails and user ids that this visitor has and no other visitor of the workspace. */
export async function namesOnlyOfVisitor(
  db: Queryable,
  workspaceId: string,
  visitorId: string,
): Promise<Names> {
  const { rows } = await db.query<{ email: string | null; external_user_id: string | null }>(
    `WITH given AS (
       SELECT visitor_id, email, external_user_id FROM identities WHERE workspace_id = $1 AND visitor_id = $2
       UNION SELECT visitor_id, NULL, external_user_id FROM visitor_users WHERE workspace_id = $1 AND visitor_id = $2
     )
     SELECT email, NULL AS external_user_id FROM given AS own WHERE email IS NOT NULL
       AND NOT EXISTS (SELECT FROM identities AS other WHERE other.workspace_id = $1 AND other.email = own.email
         AND other.visitor_id <> $2)
     UNION SELECT NULL, external_user_id FROM given AS own WHERE external_user_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM identities AS other WHERE other.workspace_id = $1
         AND other.external_user_id = own.external_user_id AND other.visitor_id <> $2)
       AND NOT EXISTS (SELECT FROM visitor_users AS other WHERE other.workspace_id = $1
         AND other.external_user_id = own.external_user_id AND other.visitor_id <> $2)`,
    [workspaceId, visitorId],
  );
  return {
    emails: rows.flatMap(({ email }) => email ?? []),
    users: rows.flatMap(({ external_user_id: user }) => user ?? []),
  };
}

const NAMING = `workspace_id = $1 AND coalesce(visitor_id, pixel_visitor_id, signup_visitor_id) IS NULL
  AND (email = ANY ($2) OR external_user_id = ANY ($3)) AND ($4::bigint IS NULL OR ts < $4)`;

/**
 * Returns whether there are orders without a visitor and with one of these emails or user ids.
 *
 * @param before microseconds: older orders only; null: all
 */
export async function hasOrdersNaming(
  db: Queryable,
  workspaceId: string,
  { emails, users }: Names,
  before: number | null,
): Promise<boolean> {
  if (emails.length + users.length === 0) return false;
  const parameters = [workspaceId, emails, users, before];
  return (await db.query(`SELECT FROM orders WHERE ${NAMING} LIMIT 1`, parameters)).rowCount === 1;
}

/** Clears the buyer's fields of the orders of {@link hasOrdersNaming}. Returns the number of orders. */
export async function forgetOrdersNaming(
  db: Queryable,
  workspaceId: string,
  { emails, users }: Names,
  before: number | null,
): Promise<number> {
  if (emails.length + users.length === 0) return 0;
  return forgetOrders(db, NAMING, [workspaceId, emails, users, before]);
}

/**
 * Clears all but the user's id of signups without a visitor and with one of these emails or users, and of their
 * leads, as {@link forgetVisitors} does for signups that name the visitor.
 */
export async function forgetSignupsNaming(
  db: Queryable,
  workspaceId: string,
  { emails, users }: Names,
): Promise<void> {
  if (emails.length + users.length === 0) return;
  const { rows } = await db.query<{ external_user_id: string }>(
    `WITH forgotten AS (
       UPDATE signups SET email = NULL, mailbox = NULL, device_id = NULL, address_hash = NULL
       WHERE workspace_id = $1 AND visitor_id IS NULL AND (lower(email) = ANY ($2) OR external_user_id = ANY ($3))
       RETURNING id, external_user_id
     ), of_purchases AS (
       UPDATE purchases SET email = NULL FROM forgotten WHERE signup_id = forgotten.id AND email IS NOT NULL
     )
     SELECT external_user_id FROM forgotten`,
    [workspaceId, emails, users],
  );
  await forgetUsersInDeliveries(
    db,
    workspaceId,
    rows.map((row) => row.external_user_id),
  );
}

/** Returns whether an erasure was requested, done or not, at `micros` since the epoch or later. */
export async function hasErasuresSince(db: Queryable, micros: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'has_erasures_since',
    text: 'SELECT FROM erasures WHERE requested_at >= to_timestamp($1::float8 / 1000000) LIMIT 1',
    values: [micros],
  });
  return rowCount === 1;
}

/**
 * Returns which of these targets were to be erased, done or not.
 *
 * @returns by `<workspace>/<target>` the time of the last request, microseconds
 */
export async function lastErasureTimes(
  db: Queryable,
  targets: readonly Pick<Erasure, 'workspaceId' | 'targetId'>[],
): Promise<Map<string, number>> {
  const distinct = [...new Map(targets.map((one) => [`${one.workspaceId}/${one.targetId}`, one])).values()];
  const { rows } = await db.query<{ target: string; requested_at: number }>(
    `SELECT workspace_id || '/' || target_id AS target,
       max((extract(epoch FROM requested_at) * 1000000)::bigint) AS requested_at
     FROM erasures WHERE (workspace_id, target_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) GROUP BY target`,
    [distinct.map(({ workspaceId }) => workspaceId), distinct.map(({ targetId }) => targetId)],
  );
  return new Map(rows.map(({ target, requested_at: at }) => [target, at]));
}

/** Returns when the oldest erasure that is not done was requested, microseconds; null without any. */
export async function oldestOpenErasure(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ requested_at: number | null }>(
    `SELECT (extract(epoch FROM min(requested_at)) * 1000000)::bigint AS requested_at
     FROM erasures WHERE done_at IS NULL`,
  );
  return rows[0]?.requested_at ?? null;
}

/** Returns an erasure that is not done, or null. */
export async function openErasure(
  db: Queryable,
  given: Pick<Erasure, 'workspaceId' | 'kind' | 'targetId'>,
): Promise<Pick<Erasure, 'names' | 'requestedAt'> | null> {
  const { rows } = await db.query<{ requested_at: number; emails: string[]; users: string[] }>(
    `SELECT (extract(epoch FROM requested_at) * 1000000)::bigint AS requested_at, emails, users FROM erasures
     WHERE workspace_id = $1 AND kind = $2 AND target_id = $3 AND done_at IS NULL`,
    [given.workspaceId, given.kind, given.targetId],
  );
  const [row] = rows;
  return row ? { requestedAt: row.requested_at, names: { emails: row.emails, users: row.users } } : null;
}

/**
 * Marks these erasures as done, unless one was requested again since it was read.
 *
 * @param replicas the replicas of ClickHouse that have no row of them; another one that was added meanwhile may have
 */
export async function finishErasures(
  db: Queryable,
  erasures: readonly Erasure[],
  replicas: readonly string[],
): Promise<void> {
  await db.query(
    `UPDATE erasures SET done_at = now(), emails = '{}', users = '{}'
     FROM unnest($1::bigint[], $2::bigint[]) AS done (id, requested_at)
     WHERE erasures.id = done.id AND (extract(epoch FROM erasures.requested_at) * 1000000)::bigint = done.requested_at
       AND NOT EXISTS (SELECT FROM replicas WHERE name <> ALL ($3))`,
    [erasures.map((erasure) => erasure.id), erasures.map((erasure) => erasure.requestedAt), replicas],
  );
}
