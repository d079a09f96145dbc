import { createSecretSealer, type SecretSealer } from '../../core/access/sealed-secret.ts';
import type { Queryable } from '../database/pool.ts';
import { readSecrets } from '../database/secrets.ts';

/** Seals the contents of mails, each for the mail's id. */
export type MailSealers = {
  contents: SecretSealer;
  /** Seals the tokens of {@link unsubscribeToken}. */
  unsubscribes: SecretSealer;
};

/**
 * Returns the sealers of mails. The key is read at the first call with the caller's own connection: within a
 * transaction another one could wait for it forever.
 */
export function createMailSealers(): (db: Queryable) => Promise<MailSealers> {
  let sealers: MailSealers | null = null;
  return async (db) => {
    if (!sealers) {
      const { seal } = await readSecrets(db);
      sealers = {
        contents: createSecretSealer(seal, 'mails'),
        unsubscribes: createSecretSealer(seal, 'mail unsubscribes'),
      };
    }
    return sealers;
  };
}
