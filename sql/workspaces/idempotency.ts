import { createHash } from 'node:crypto';
import type { Queryable } from '../database/pool.ts';

/** An answer kept for replays. Only 2xx answers are. */
export type StoredResponse = { status: number; body: unknown };

/** What is known of a key: an answer under it, or that a request which waits for something holds it. */
export type KeyState = { kept: (StoredResponse & { fingerprint: Buffer }) | null; isReserved: boolean };

/**
 * Longest time that a request may hold a key without a transaction, in seconds: what it waits for takes less, and
 * nobody else may use the key for so long when its process dies.
 */
const RESERVED_FOR = 15;

/**
 * Takes the key's lock until the transaction ends, without waiting.
 *
 * @returns false while another request with this key runs
 */
export async function lockIdempotencyKey(tx: Queryable, workspaceId: string, key: string): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
    lockOf(workspaceId, key),
  ]);
  return rows[0]?.locked === true;
}

/** The same for who has reserved the key: others hold its lock only for as long as they take to see that. */
export async function waitForIdempotencyKey(tx: Queryable, workspaceId: string, key: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [lockOf(workspaceId, key)]);
}

/**
 * What was answered under this key in the last 24 hours, and whether another request has reserved it. Ask with the
 * key's lock held.
 *
 * @param holder whose own reservation is none for it, or null
 */
export async function idempotencyKeyState(
  tx: Queryable,
  workspaceId: string,
  key: string,
  holder: string | null,
): Promise<KeyState> {
  const { rows } = await tx.query<StoredResponse & { fingerprint: Buffer | null; reserved: boolean }>(
    `SELECT k.fingerprint, k.status, k.body, r.holder IS NOT NULL AS reserved
     FROM (VALUES (1)) AS one
     LEFT JOIN idempotency_keys k
       ON k.workspace_id = $1 AND k.key = $2 AND k.created_at > now() - interval '24 hours'
         AND k.created_at < now() + interval '1 hour' -- else made while the clock was ahead
     LEFT JOIN idempotency_reservations r
       ON r.workspace_id = $1 AND r.key = $2 AND r.ends_at > now()
         AND r.ends_at < now() + interval '1 hour' AND r.holder IS DISTINCT FROM $3`,
    [workspaceId, key, holder],
  );
  const { fingerprint = null, status = 0, body, reserved = false } = rows[0] ?? {};
  return { kept: fingerprint && { fingerprint, status, body }, isReserved: reserved };
}

/** Reserves a key whose lock is held and that nobody else has reserved. */
export async function reserveKey(
  tx: Queryable,
  given: { workspaceId: string; key: string; holder: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO idempotency_reservations (workspace_id, key, holder, ends_at)
     VALUES ($1, $2, $3, now() + $4 * interval '1 second')
     ON CONFLICT (workspace_id, key) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at`,
    [given.workspaceId, given.key, given.holder, RESERVED_FOR],
  );
}

/** Ends a reservation, unless the key is another request's by now. */
export async function releaseKey(
  db: Queryable,
  given: { workspaceId: string; key: string; holder: string },
): Promise<void> {
  await db.query(
    'DELETE FROM idempotency_reservations WHERE workspace_id = $1 AND key = $2 AND holder = $3',
    [given.workspaceId, given.key, given.holder],
  );
}

function lockOf(workspaceId: string, key: string): bigint {
  return createHash('sha256').update(`${workspaceId} ${key}`).digest().readBigInt64BE();
}

/**
 * Keeps an answer for 24 hours, in the transaction of the work that it answers, and drops a few records that are
 * older: as many go as come, so no job is needed for it.
 */
export async function storeResponse(
  tx: Queryable,
  given: { workspaceId: string; key: string; fingerprint: Buffer } & StoredResponse,
): Promise<void> {
  await tx.query(
    `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, status, body) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, key) DO UPDATE SET fingerprint = excluded.fingerprint,
       status = excluded.status, body = excluded.body, created_at = now()`,
    [given.workspaceId, given.key, given.fingerprint, given.status, JSON.stringify(given.body)],
  );
  await tx.query(
    `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM idempotency_keys WHERE created_at < now() - interval '24 hours'
       ORDER BY created_at LIMIT 5 FOR UPDATE SKIP LOCKED))`,
  );
}
