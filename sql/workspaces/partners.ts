import { mintKey } from '../../core/access/keys.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

/** A platform that runs workspaces for its own customers. */
export type Partner = { id: string; name: string; created_at: Date };

const COLUMNS = 'id, name, created_at';

/** Returns the partner whose key has this 8-digit lookup, with the hash to check the token against, or null. */
export async function partnerByLookup(
  db: Queryable,
  lookup: string,
): Promise<(Partner & { hash: Buffer }) | null> {
  const { rows } = await db.query<Partner & { hash: Buffer }>(
    `SELECT ${COLUMNS}, key_hash AS hash FROM partners WHERE key_lookup = $1`,
    [lookup],
  );
  return rows[0] ?? null;
}

/** Creates a partner with its key, whose token can't be read again. */
export async function createPartner(
  db: Queryable,
  name: string,
): Promise<{ partner: Partner; token: string }> {
  for (;;) {
    const { token, lookup, hash } = mintKey('partner');
    const { rows } = await db.query<Partner>(
      `INSERT INTO partners (id, name, key_lookup, key_hash) VALUES ($1, $2, $3, $4)
       ON CONFLICT (key_lookup) DO NOTHING RETURNING ${COLUMNS}`,
      [uuidv7(), name, lookup, hash],
    );
    if (rows[0]) return { partner: rows[0], token };
  }
}

/** Replaces the key of a partner; the former one is invalid at once. Returns null when there is no such partner. */
export async function rotatePartnerKey(
  db: Queryable,
  id: string,
): Promise<{ partner: Partner; token: string } | null> {
  for (;;) {
    const { token, lookup, hash } = mintKey('partner');
    const { rows: taken } = await db.query('SELECT 1 FROM partners WHERE key_lookup = $1', [lookup]);
    if (taken.length > 0) continue;
    const { rows } = await db.query<Partner>(
      `UPDATE partners SET key_lookup = $2, key_hash = $3 WHERE id = $1 RETURNING ${COLUMNS}`,
      [id, lookup, hash],
    );
    return rows[0] ? { partner: rows[0], token } : null;
  }
}

/** Returns every partner, oldest first. */
export async function listPartners(db: Queryable): Promise<Partner[]> {
  const { rows } = await db.query<Partner>(`SELECT ${COLUMNS} FROM partners ORDER BY created_at, id`);
  return rows;
}
