import { createHmac } from 'node:crypto';
import { addressHash } from '../../core/addresses/address-hash.ts';
import { AppError } from '../../core/errors.ts';
import { beginAttempt, withdrawAttempt } from '../../sql/console/sign-in-attempts.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { HashKey } from './hash-key.ts';

/**
 * The keys that failed attempts are counted by: the account from all addresses, and the address for all accounts.
 */
export type TriedBy = { account?: string; address: string };

/** Runs one sign-in attempt. `check` returns null when it failed. */
export type Tries = <T>(by: TriedBy, check: () => Promise<T | null>) => Promise<T | null>;

/**
 * Limits guessing: after five failed attempts in a minute for one account, or from one address, further ones are
 * refused for a minute. An attempt counts from its start, so concurrency is no way around it. Successes and other
 * errors do not count.
 *
 * @throws {AppError} `too_many_requests`, from the returned function
 */
export function createTries(pool: Pool, key: HashKey): Tries {
  async function subjectsOf({ account, address }: TriedBy): Promise<Buffer[]> {
    const secret = await key();
    const keyed = (text: string) => createHmac('sha256', secret).update(text).digest();
    // Malformed addresses share one counter instead of having none.
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
  new AppError('too_many_requests', `too many failed attempts; try again in ${seconds} s`, undefined, {
    retryAfter: seconds,
  });
