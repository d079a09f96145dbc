import { createSecretSealer, type SecretSealer } from '../../core/access/sealed-secret.ts';
import type { Queryable } from '../database/pool.ts';
import { readSecrets } from '../database/secrets.ts';

/** Returns the sealer of the keys of fulfilments, whose owner is the fulfilment. The key is read at the first call. */
export function createFulfilmentSealer(db: Queryable): () => Promise<SecretSealer> {
  let sealer: SecretSealer | null = null;
  return async () => {
    sealer ??= createSecretSealer((await readSecrets(db)).seal, 'fulfilments');
    return sealer;
  };
}
