import { setTimeout as delay } from 'node:timers/promises';
import { adviceOn } from '../../core/databases/advice.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Queryable } from './pool.ts';

/**
 * The deployment's secrets, 32 bytes each: created once by `migrate`, never rotated.
 * `visitor`: visitor ids. `cookie`: signatures of password cookies. `address`: encryption of addresses in the event
 * log. `addressHash`: self-referral hashes. `seal`: secrets of other services, such as a billing provider's.
 */
export type DeploymentSecrets = Record<'visitor' | 'cookie' | 'address' | 'addressHash' | 'seal', Buffer>;

/**
 * Returns the deployment's secrets.
 * @throws Error when the database is not migrated
 */
export async function readSecrets(db: Queryable): Promise<DeploymentSecrets> {
  const { rows } = await db.query<{ name: string; secret: Buffer }>(
    'SELECT name, secret FROM deployment_secrets',
  );
  const byName = new Map(rows.map((row) => [row.name, row.secret]));
  const secret = (name: string): Buffer => {
    const value = byName.get(name);
    if (!value) throw new Error(`deployment secret ${name} is missing: run "hoplog migrate"`);
    return value;
  };
  return {
    visitor: secret('visitor_key'),
    cookie: secret('cookie_key'),
    address: secret('address_key'),
    addressHash: secret('address_hash_key'),
    seal: secret('seal_key'),
  };
}

/** Waits until PostgreSQL is reachable and migrated, and returns the secrets. */
export async function waitForSecrets(db: Queryable, log: Logger): Promise<DeploymentSecrets> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readSecrets(db);
    } catch (error) {
      if (attempt % 10 === 1) {
        const { message, ...more } = adviceOn(error) ?? {};
        log.warn(
          { err: error, ...more },
          message ? `waiting for PostgreSQL: ${message}` : 'waiting for PostgreSQL',
        );
      }
      await delay(500);
    }
  }
}
