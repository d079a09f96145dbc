import type { Queryable } from './pool.ts';

/** The replication state that the primary reports. */
export type Replication = {
  /** Connections that replicate: standbys, and base backups meanwhile. */
  standbys: number;
  /** Bytes of the write-ahead log that the slot which is furthest back holds; null: no slot. */
  slotBytes: number | null;
};

/**
 * Returns the state of replication. It needs no special right: details of `pg_stat_replication` would need
 * `pg_monitor`.
 */
export async function replicationState(db: Queryable): Promise<Replication> {
  const { rows } = await db.query<{ standbys: number; slot_bytes: number | null }>(
    `SELECT (SELECT count(*)::int FROM pg_stat_replication) AS standbys,
       (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::bigint
        FROM pg_replication_slots WHERE NOT temporary) AS slot_bytes`,
  );
  const { standbys, slot_bytes: slotBytes } = rows[0] ?? { standbys: 0, slot_bytes: null };
  return { standbys, slotBytes };
}
