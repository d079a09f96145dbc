import { createHash } from 'node:crypto';
import type { Queryable } from './pool.ts';

/** An answer kept for replays. Only 2xx answers are. */
export type KeptAnswer = { status: number; body: unknown };

/**
 * Takes the key's lock until the transaction ends, without waiting.
 *
 * @returns false while another request with this key runs
 */
export async function lockIdempotencyKey(tx: Queryable, workspaceId: string, key: string): Promise<boolean> {
  const lock = createHash('sha256').update(`${workspaceId} ${key}`).digest().readBigInt64BE();
  const { rows } = await tx.query<{ locked: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS locked', [
    lock,
  ]);
  return rows[0]?.locked === true;
}

/** What was answered under this key in the last 24 hours, or null. Ask with the key's lock held. */
export async function keptAnswer(
  tx: Queryable,
  workspaceId: string,
  key: string,
): Promise<(KeptAnswer & { fingerprint: Buffer }) | null> {
  const { rows } = await tx.query<KeptAnswer & { fingerprint: Buffer }>(
    `SELECT fingerprint, status, body FROM idempotency_keys
     WHERE workspace_id = $1 AND key = $2 AND created_at > now() - interval '24 hours'`,
    [workspaceId, key],
  );
  return rows[0] ?? null;
}

/**
 * Keeps an answer for 24 hours, in the transaction of the work that it answers, and drops a few records that are
 * older: as many go as come, so no job is needed for it.
 */
export async function keepAnswer(
  tx: Queryable,
  given: { workspaceId: string; key: string; fingerprint: Buffer } & KeptAnswer,
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
