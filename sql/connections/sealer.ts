import { createSecretSealer, type SecretSealer } from '../../core/access/sealed-secret.ts';
import type { Queryable } from '../database/pool.ts';
import { readSecrets } from '../database/secrets.ts';

/**
 * Returns the sealer of the secrets of connections. The key is read at the first call: the tiers start with PostgreSQL
 * down.
 */
export function createConnectionSealer(db: Queryable): () => Promise<SecretSealer> {
  let sealer: SecretSealer | null = null;
  return async () => {
    sealer ??= createSecretSealer((await readSecrets(db)).seal, 'connections');
    return sealer;
  };
}
