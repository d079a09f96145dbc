import { inTransaction, type Pool } from './pool.ts';

/** Salts by UTC day, `2026-11-25`. */
export type DailySalts = ReadonlyMap<string, Buffer>;

/**
 * Returns the deployment's salts of these days, stores the given salts of missing days, and removes all other days. The
 * table is truncated for that, since a deleted row stays in its file.
 *
 * @param own a salt for each wanted day, used when the deployment has none
 */
export async function shareSalts(pool: Pool, own: DailySalts): Promise<DailySalts> {
  return inTransaction(pool, async (db) => {
    await db.query('LOCK TABLE visitor_salts IN ACCESS EXCLUSIVE MODE');
    const { rows } = await db.query<{ day: string; salt: Buffer }>(
      'SELECT day::text, salt FROM visitor_salts',
    );
    const stored = new Map(rows.map(({ day, salt }) => [day, salt]));
    const shared = new Map([...own].map(([day, salt]) => [day, stored.get(day) ?? salt]));
    if (rows.length === shared.size && rows.every(({ day }) => shared.has(day))) return shared;
    await db.query('TRUNCATE visitor_salts');
    await db.query('INSERT INTO visitor_salts (day, salt) SELECT * FROM unnest($1::date[], $2::bytea[])', [
      [...shared.keys()],
      [...shared.values()],
    ]);
    return shared;
  });
}
