import { createHmac } from 'node:crypto';
import { addressHash } from '../../core/addresses/address-hash.ts';
import { AppError } from '../../core/errors.ts';
import { beginAttempt, withdrawAttempt } from '../../sql/console/sign-in-attempts.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { HashKey } from './hash-key.ts';

/** Whose wrong tries are counted together: an account's from everywhere, and an address's at every account. */
export type TriedBy = { account?: string; address: string };

/** Runs one try to sign in. `check` gives null when it was wrong. */
export type Tries = <T>(by: TriedBy, check: () => Promise<T | null>) => Promise<T | null>;

/**
 * Bounds guessing: after five wrong tries in a minute at one account, or from one address, none is made for a minute.
 * A try counts from its beginning, so many at once are no way around it; what is right, or fails for another reason,
 * does not count.
 *
 * @throws {AppError} `too_many_requests`, from the function that it makes
 */
export function createTries(pool: Pool, key: HashKey): Tries {
  async function subjectsOf({ account, address }: TriedBy): Promise<Buffer[]> {
    const secret = await key();
    const keyed = (text: string) => createHmac('sha256', secret).update(text).digest();
    // What is no address is nobody's own: all such callers are counted as one, not let off.
    const subjects = [addressHash(secret, 'sign-in', address) ?? keyed('no address')];
    if (account !== undefined) subjects.push(keyed(`account ${account}`));
    return subjects;
  }

  return async (by, check) => {
    const begun: { subject: Buffer; at: string }[] = [];
    const takeBack = () => Promise.all(begun.map(({ subject, at }) => withdrawAttempt(pool, subject, at)));
    try {
      for (const subject of await subjectsOf(by)) {
        const one = await beginAttempt(pool, subject);
        if (!one.allowed) throw tooMany(one.retryAfter);
        begun.push({ subject, at: one.at });
      }
      const found = await check();
      if (found !== null) await takeBack();
      return found;
    } catch (error) {
      await takeBack();
      throw error;
    }
  };
}

const tooMany = (seconds: number) =>
  new AppError(
    'too_many_requests',
    `too many wrong tries; the next one may be made in ${seconds} s`,
    undefined,
    {
      retryAfter: seconds,
    },
  );
