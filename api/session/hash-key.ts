import type { Pool } from '../../sql/database/pool.ts';
import { readSecrets } from '../../sql/database/secrets.ts';

/** Returns the deployment's key for hashes of accounts and addresses, read once. */
export type HashKey = () => Promise<Buffer>;

export function createHashKey(pool: Pool): HashKey {
  let secret: Promise<Buffer> | undefined;
  return () => {
    secret ??= readSecrets(pool).then(
      ({ addressHash }) => addressHash,
      (error: unknown) => {
        secret = undefined; // PostgreSQL was down: retried at the next call
        throw error;
      },
    );
    return secret;
  };
}
