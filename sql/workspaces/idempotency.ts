import { createHash } from 'node:crypto';
import type { Queryable } from '../database/pool.ts';

/** A response stored for replays. Only 2xx responses are. */
export type StoredResponse = { status: number; body: unknown };

/** A response. `replayBody` is the body of a replay if it differs: secrets are not stored. */
export type MadeResponse = StoredResponse & { replayBody?: unknown };

/** State of a key: its stored response, or a reservation by a request that waits before its transaction. */
export type KeyState = { stored: (StoredResponse & { fingerprint: Buffer }) | null; isReserved: boolean };

/**
 * Longest reservation, in seconds. It is longer than a request may wait, and bounds the time for which the key of a
 * dead process is blocked.
 */
const RESERVED_FOR = 15;

/**
 * Locks the key until the transaction ends, without waiting.
 *
 * @returns false while another request with this key runs
 */
export async function lockIdempotencyKey(tx: Queryable, workspaceId: string, key: string): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
    lockOf(workspaceId, key),
  ]);
  return rows[0]?.locked === true;
}

/** Waits for the lock of a key that this request has reserved. Others hold it only while they read the reservation. */
export async function waitForIdempotencyKey(tx: Queryable, workspaceId: string, key: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [lockOf(workspaceId, key)]);
}

/**
 * Returns the response stored under this key in the last 24 hours, and whether another request has reserved the key.
 * Call it with the key locked.
 *
 * @param holder the request whose own reservation is ignored, or null
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
         AND k.created_at < now() + interval '1 hour' -- else written while the clock was ahead
     LEFT JOIN idempotency_reservations r
       ON r.workspace_id = $1 AND r.key = $2 AND r.ends_at > now()
         AND r.ends_at < now() + interval '1 hour' AND r.holder IS DISTINCT FROM $3`,
    [workspaceId, key, holder],
  );
  const { fingerprint = null, status = 0, body, reserved = false } = rows[0] ?? {};
  return { stored: fingerprint && { fingerprint, status, body }, isReserved: reserved };
}

/** Reserves a key that is locked and that no other request has reserved. */
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

/** Ends a reservation, unless another request has the key by now. */
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

/** Stores a response for 24 hours, in the transaction of its work, and deletes a few expired ones. */
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
