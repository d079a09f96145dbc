import { createHmac } from 'node:crypto';
import { addressHash } from '../../core/addresses/address-hash.ts';
import { AppError } from '../../core/errors.ts';
import { beginAttempt, withdrawAttempt } from '../../sql/console/sign-in-attempts.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { HashKey } from './hash-key.ts';

/** Failed attempts a minute for one account from one address, or from one known browser. */
const MAX_FAILED = 5;
/**
 * Failed attempts a minute for one account from all unknown browsers, and from one address for all accounts. Many
 * people share an address, so one person's mistakes must not lock out the others.
 */
const MAX_SPREAD = 30;

/** The identifiers by which failed attempts are counted. */
export type TriedBy = {
  account?: string;
  address: string;
  /** A browser that signed in to the account before. It has a count of its own, which no one else can use up. */
  browser?: string | null;
};

/** Runs one sign-in attempt. `check` returns null when it failed. */
export type Tries = <T>(by: TriedBy, check: () => Promise<T | null>) => Promise<T | null>;

/**
 * Limits guessing: after too many failed attempts in a minute, further ones are refused for a minute. An attempt
 * counts from its start, so concurrent tries do not avoid it. Successes and other errors do not count.
 *
 * @throws {AppError} `too_many_requests`, from the returned function
 */
export function createTries(pool: Pool, key: HashKey): Tries {
  async function subjectsOf({ account, address, browser }: TriedBy): Promise<[Buffer, number][]> {
    const secret = await key();
    const keyed = (text: string) => createHmac('sha256', secret).update(text).digest();
    if (account !== undefined && browser) return [[keyed(`browser ${browser} ${account}`), MAX_FAILED]];
    // Malformed addresses share one counter instead of having none.
    const from = addressHash(secret, 'sign-in', address) ?? keyed('no address');
    if (account === undefined) return [[from, MAX_SPREAD]];
    return [
      [keyed(`account ${account} ${from.toString('hex')}`), MAX_FAILED],
      [from, MAX_SPREAD],
      [keyed(`account ${account}`), MAX_SPREAD],
    ];
  }

  return async (by, check) => {
    const begun: { subject: Buffer; at: string; most: number }[] = [];
    const takeBack = () =>
      Promise.all(begun.map(({ subject, at, most }) => withdrawAttempt(pool, subject, at, most)));
    try {
      for (const [subject, most] of await subjectsOf(by)) {
        const one = await beginAttempt(pool, subject, most);
        if (!one.allowed) throw tooMany(one.retryAfter);
        begun.push({ subject, at: one.at, most });
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
