import type { Queryable } from '../database/pool.ts';

/**
 * A queue of deliveries: a table whose rows have an `id`, `attempts`, and the time of the `next_attempt_at`. Each kind
 * keeps its table, for its log and its constraints. Leases are the same for all:
 *
 *   waits ──claim──▶ under way, until the lease ends ──outcome──▶ waits for the next attempt, or is over
 *     ▲                        │
 *     └─ released, or the lease has ended: the attempt counts as lost ─┘
 */
export type Queue = {
  table: string;
  /** The column of the target of a delivery. A claim limits the deliveries for each. */
  target: string;
  /** SQL: whether a row waits or is under way, as in the partial index of due rows. */
  waits: string;
  /**
   * SQL, with a comma first: further columns that a claim sets, from its time `now` and the end of its lease `lease`.
   */
  onClaim: string;
  /** SQL, with a comma first: further columns that a release sets. */
  onRelease: string;
  /** Further columns of a claimed row than `id` and `target`, separated by commas. */
  columns: string;
};

const ENDS_WITH_LEASE = ', attempt_ends_at = clock.lease';
const ENDED = ', attempt_ends_at = NULL';

export const WEBHOOK_DELIVERIES: Queue = {
  table: 'webhook_deliveries',
  target: 'webhook_id',
  waits: "status = 'pending'",
  onClaim: '',
  onRelease: '',
  columns: 'event_id AS "eventId", body, attempts',
};

/** A claim records that an attempt may deliver a credit. */
export const GRANT_DELIVERIES: Queue = {
  table: 'grant_deliveries',
  target: 'fulfilment_id',
  waits: "status = 'pending'",
  onClaim: `${ENDS_WITH_LEASE}, uncertain_since = coalesce(delivery.uncertain_since, clock.now)`,
  onRelease: ENDED,
  columns: 'grant_id AS "grantId", attempts, refusals, uncertain_since AS "uncertainSince", customer',
};

export const PROMOTION_CODES: Queue = {
  table: 'promotion_codes',
  target: 'connection_id',
  waits: 'next_attempt_at IS NOT NULL',
  onClaim: ENDS_WITH_LEASE,
  onRelease: ENDED,
  columns: 'attempts',
};

/** Mails to the mail server. Those of a workspace take turns with those of others. */
export const MAILS: Queue = {
  table: 'mails',
  target: 'queue_id',
  waits: "status = 'pending'",
  onClaim: '',
  onRelease: '',
  columns: `workspace_id AS "workspaceId", kind, recipient, content, attempts, created_at AS "createdAt",
    expires_at AS "expiresAt"`,
};

/** Messages to chats. Those of a workspace take turns with those of others. */
export const CHAT_MESSAGES: Queue = {
  table: 'chat_messages',
  target: 'workspace_id',
  waits: "status = 'pending'",
  onClaim: '',
  onRelease: '',
  columns: 'address, body, attempts, expires_at AS "expiresAt"',
};

/**
 * A delivery that this worker attempts: the queue's columns as they were before the claim. `leaseEnds`: milliseconds
 * since the epoch.
 */
export type Claimed<Columns> = Columns & { id: string; target: string; leaseEnds: number };

/**
 * Returns the targets with a delivery due, longest due first. A recursive query reads one index entry for each, so that
 * the backlog of one does not slow the others.
 *
 * @param now milliseconds since the epoch
 */
export async function targetsDue(
  db: Queryable,
  { table, target, waits }: Queue,
  now: number,
): Promise<string[]> {
  const { rows } = await db.query<{ target: string }>({
    name: `targets_due_${table}`,
    text: `WITH RECURSIVE first AS (
       (SELECT ${target} AS target, next_attempt_at FROM ${table} WHERE ${waits}
        ORDER BY ${target}, next_attempt_at LIMIT 1)
       UNION ALL
       SELECT next.target, next.next_attempt_at FROM first CROSS JOIN LATERAL (
         SELECT ${target} AS target, next_attempt_at FROM ${table}
         WHERE ${waits} AND ${target} > first.target
         ORDER BY ${target}, next_attempt_at LIMIT 1) AS next
     )
     SELECT target FROM first WHERE next_attempt_at <= to_timestamp($1::float8 / 1000) ORDER BY next_attempt_at`,
    values: [now],
  });
  return rows.map((row) => row.target);
}

/**
 * Claims due deliveries, up to `room` for each target, longest due first. No other worker claims them for `leaseMs`;
 * then the attempt counts as lost and they are due again.
 *
 * @param now milliseconds since the epoch
 */
export async function claimDue<Columns>(
  db: Queryable,
  { table, target, waits, onClaim, columns }: Queue,
  rooms: readonly { target: string; room: number }[],
  now: number,
  leaseMs: number,
): Promise<Claimed<Columns>[]> {
  if (rooms.length === 0) return [];
  const { rows } = await db.query<Columns & { id: string; target: string }>(
    `WITH clock AS MATERIALIZED (
       SELECT to_timestamp($3::float8 / 1000) AS now, to_timestamp(($3::float8 + $4) / 1000) AS lease
     ), claimed AS MATERIALIZED (
       SELECT due.* FROM unnest($1::uuid[], $2::int[]) AS wanted (target, room) CROSS JOIN LATERAL (
         SELECT id, ${target} AS target, ${columns} FROM ${table}
         WHERE ${target} = wanted.target AND ${waits} AND next_attempt_at <= to_timestamp($3::float8 / 1000)
         ORDER BY next_attempt_at LIMIT wanted.room FOR UPDATE SKIP LOCKED) AS due
     ), leased AS (
       UPDATE ${table} AS delivery SET next_attempt_at = clock.lease ${onClaim}
       FROM claimed, clock WHERE delivery.id = claimed.id
     )
     SELECT * FROM claimed`,
    [rooms.map((one) => one.target), rooms.map((one) => one.room), now, leaseMs],
  );
  return rows.map((row) => ({ ...row, leaseEnds: now + leaseMs }));
}

/** A delivery whose attempt ended. `before`: its attempts when the attempt began. */
export type Attempted = { id: string; before: number };

/** Releases claimed deliveries, due at once: their attempts were cut off. */
export async function releaseClaims(
  db: Queryable,
  { table, waits, onRelease }: Queue,
  released: readonly Attempted[],
  now: number,
): Promise<void> {
  if (released.length === 0) return;
  await db.query(
    `UPDATE ${table} AS delivery SET next_attempt_at = to_timestamp($3::float8 / 1000) ${onRelease}
     FROM unnest($1::uuid[], $2::int[]) AS given (id, before)
     WHERE delivery.id = given.id AND ${waits} AND delivery.attempts = given.before`,
    [released.map((row) => row.id), released.map((row) => row.before), now],
  );
}

/**
 * Returns SQL: whether an outcome counts for the row `delivery`. A success always counts. A failure counts only while
 * the delivery is as its attempt found it: it may have been delivered or restarted since.
 *
 * @param status SQL: of the outcome
 * @param before SQL: attempts when the attempt began
 */
export const outcomeCounts = (status: string, before: string) =>
  `delivery.status <> 'delivered' AND (${status} = 'delivered' OR (delivery.status = 'pending' AND delivery.attempts = ${before}))`;

/** Counts deliveries that wait or are under way, up to `most`. @param target of this one only */
export async function countPending(
  db: Queryable,
  { table, target: column, waits }: Queue,
  most: number,
  target?: string,
): Promise<number> {
  const { rows } = await db.query<{ found: number }>(
    `SELECT count(*) AS found FROM (
       SELECT 1 FROM ${table} WHERE ${waits} ${target === undefined ? '' : `AND ${column} = $2`} LIMIT $1) AS pending`,
    target === undefined ? [most] : [most, target],
  );
  return rows[0]?.found ?? 0;
}
