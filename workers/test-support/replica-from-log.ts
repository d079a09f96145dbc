import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { insertUnfilledReplica } from '../../sql/event-log/replica-fills.ts';

/**
 * Adds a replica that gets everything from the log, and that no other replica fills: it is behind every lane, at the
 * offset 0.
 */
export async function addReplicaFromLog(pool: Pool, name: string): Promise<void> {
  await inTransaction(pool, async (transaction) => {
    await insertUnfilledReplica(transaction, name);
    await transaction.query('UPDATE replicas SET log_from = NULL WHERE name = $1', [name]);
    await transaction.query('DELETE FROM replica_repairs WHERE replica = $1', [name]);
    await transaction.query('UPDATE replica_lanes SET next_offset = 0 WHERE replica = $1', [name]);
    await transaction.query(
      `INSERT INTO replica_streams (replica, partition, stream_id, high_water, visible_before, missing)
       SELECT replica, partition, stream_id, -1, 0, '[]' FROM replica_lanes, ingest_streams WHERE replica = $1`,
      [name],
    );
    await transaction.query(
      `INSERT INTO replica_corrections (replica, correction_id, corrected_to)
       SELECT $1, id, from_ts FROM clock_corrections WHERE is_ambiguous IS NOT true ON CONFLICT DO NOTHING`,
      [name],
    );
  });
}
