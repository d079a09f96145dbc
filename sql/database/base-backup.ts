import type { Queryable } from './pool.ts';

/** The result of `pg_backup_stop` that recovery of the copied files needs. */
export type BackupPoint = {
  /** Content of the files of these names in the data directory. */
  backupLabel: string;
  tablespaceMap: string;
  /** Names of the first and the last segment of the write-ahead log. */
  firstSegment: string;
  lastSegment: string;
  /** Time of the point, by PostgreSQL's clock. */
  pointAt: Date;
};

/** Longest wait for the locks; meanwhile later writers queue behind them. Milliseconds. */
const LOCK_WAIT_MS = 1_000;
const LOCK_ATTEMPTS = 30;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Begins a backup of PostgreSQL's files: they may be copied from now on. The connection must stay open until the
 * segments of the write-ahead log are copied: its temporary slot keeps them. When it closes early, PostgreSQL ends the
 * backup.
 *
 * @returns the name of the first segment
 */
export async function beginBaseBackup(connection: Queryable): Promise<string> {
  await connection.query(
    `SELECT pg_create_physical_replication_slot('hoplog_backup_' || pg_backend_pid(), true, true)`,
  );
  const { rows } = await connection.query<{ segment: string }>(
    `SELECT pg_walfile_name(pg_backup_start('hoplog', true)) AS segment`,
  );
  return rows[0]?.segment ?? '';
}

/**
 * Ends the backup at a point at which no lane and no correction of times moves: `work` runs while they are locked. To
 * PostgreSQL, a worker's insert into ClickHouse meanwhile is an unknown step, as after a crash, and a restore repeats
 * it.
 *
 * @param firstSegment from {@link beginBaseBackup}
 */
export async function endBaseBackup(
  connection: Queryable,
  firstSegment: string,
  work: () => Promise<void>,
): Promise<BackupPoint> {
  await lockProgress(connection);
  try {
    const { rows } = await connection.query<{ label: string; map: string; last: string; at: Date }>(
      `SELECT labelfile AS label, spcmapfile AS map, pg_walfile_name(lsn) AS last, clock_timestamp() AS at
       FROM pg_backup_stop(false)`,
    );
    const [row] = rows;
    if (!row) throw new Error('pg_backup_stop returned no row');
    await work();
    await connection.query('COMMIT');
    return {
      backupLabel: row.label,
      tablespaceMap: row.map,
      firstSegment,
      lastSegment: row.last,
      pointAt: row.at,
    };
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function lockProgress(connection: Queryable): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await connection.query('BEGIN');
    try {
      await connection.query(`SELECT set_config('lock_timeout', $1, true)`, [String(LOCK_WAIT_MS)]);
      await connection.query(
        'LOCK TABLE log_lanes, clock_corrections, replica_corrections IN EXCLUSIVE MODE',
      );
      return;
    } catch (error) {
      await connection.query('ROLLBACK');
      const isHeld = error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
      if (!isHeld || attempt === LOCK_ATTEMPTS) throw error;
    }
  }
}

/** Returns PostgreSQL's system identifier, which a copy of its files keeps. */
export async function systemIdentifier(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'SELECT system_identifier::text AS id FROM pg_control_system()',
  );
  return rows[0]?.id ?? '';
}
