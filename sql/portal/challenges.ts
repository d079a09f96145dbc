import { lockNamed } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';

/** Proofs of work of one network address that count in an hour. */
const MOST_AN_HOUR = 10;

/** `used`: the challenge was spent before. `too_many`: the address has sent enough for this hour. */
export type SpentChallenge = 'ok' | 'used' | 'too_many';

/**
 * Spends a challenge, which then counts for no other call.
 *
 * @param challengeHash SHA-256 of the challenge
 * @param addressHash keyed hash of the network address that sent the proof
 */
export async function spendChallenge(
  tx: Queryable,
  challengeHash: Buffer,
  addressHash: Buffer,
): Promise<SpentChallenge> {
  // Concurrent calls of one address follow each other, so that all of them count.
  await lockNamed(tx, 'challenges', addressHash.toString('hex'));
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM spent_challenges
     WHERE address_hash = $1 AND spent_at > now() - interval '1 hour'`,
    [addressHash],
  );
  if ((rows[0]?.count ?? 0) >= MOST_AN_HOUR) return 'too_many';
  const { rowCount } = await tx.query(
    'INSERT INTO spent_challenges (id, address_hash) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [challengeHash, addressHash],
  );
  return rowCount === 1 ? 'ok' : 'used';
}
