import type { Queryable } from '../database/pool.ts';

/** What a replica of ClickHouse may have missed of what comes from other sources than the event log. */
export type RepairedWork = 'orders' | 'roll_ups';

/** A replica, and whether it has missed something. It must not be read then. */
export type ReplicaState = { name: string; isOut: boolean };

/** Returns every replica that has data, or is being filled. */
export async function replicaStates(db: Queryable): Promise<ReplicaState[]> {
  const { rows } = await db.query<ReplicaState>({
    name: 'replica_states',
    text: `SELECT name, EXISTS (SELECT FROM replica_repairs WHERE replica = name) AS "isOut" FROM replicas ORDER BY name`,
  });
  return rows;
}

/**
 * Records what replicas have missed. Call it in the transaction that records the work as done.
 *
 * @param subjects the internal ids of orders; of roll-ups, the one subject `all`
 */
export async function recordMissed(
  transaction: Queryable,
  replicas: readonly string[],
  work: RepairedWork,
  subjects: readonly (string | number)[],
): Promise<void> {
  if (replicas.length === 0 || subjects.length === 0) return;
  await transaction.query(
    `INSERT INTO replica_repairs (replica, work, subject)
     SELECT replica, $2, subject FROM unnest($1::text[]) AS replica, unnest($3::text[]) AS subject
     ON CONFLICT DO NOTHING`,
    [replicas, work, subjects.map(String)],
  );
}

/** Returns subjects of a work that a replica has missed, the oldest first. */
export async function missedOf(
  db: Queryable,
  replica: string,
  work: RepairedWork,
  limit: number,
): Promise<string[]> {
  const { rows } = await db.query<{ subject: string }>(
    `SELECT subject FROM replica_repairs WHERE replica = $1 AND work = $2 ORDER BY recorded_at, subject LIMIT $3`,
    [replica, work, limit],
  );
  return rows.map(({ subject }) => subject);
}

/** Records that a replica has what it had missed. */
export async function recordRepaired(
  db: Queryable,
  replica: string,
  work: RepairedWork,
  subjects: readonly string[],
): Promise<void> {
  await db.query('DELETE FROM replica_repairs WHERE replica = $1 AND work = $2 AND subject = ANY ($3)', [
    replica,
    work,
    subjects,
  ]);
}
