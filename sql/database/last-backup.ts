import type { Queryable } from './pool.ts';

/** Records that a backup of the whole deployment is complete. */
export async function recordBackup(db: Queryable): Promise<void> {
  await db.query(
    `INSERT INTO last_backup (made_at) VALUES (now())
     ON CONFLICT (is_newest) DO UPDATE SET made_at = excluded.made_at`,
  );
}

/** Returns when the newest backup was recorded, microseconds; null: none is known. */
export async function lastBackup(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ made_at: number }>(
    'SELECT (extract(epoch FROM made_at) * 1000000)::bigint AS made_at FROM last_backup',
  );
  return rows[0]?.made_at ?? null;
}
