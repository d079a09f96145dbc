import { randomBytes } from 'node:crypto';
import { hashPassword, passwordMatches } from '../../core/passwords.ts';
import { type PasswordHolder, passwordHolders } from '../../sql/members.ts';
import type { Pool } from '../../sql/pool.ts';

/** Whose email and password these are, in every workspace where they fit. */
export type HoldersOf = (email: string, password: string) => Promise<PasswordHolder[]>;

/**
 * Finds members by email and password. An unknown email costs the same work as a wrong password, so the time that an
 * answer takes tells nobody who is a member.
 */
export function createPasswordCheck(pool: Pool): HoldersOf {
  const nobodys = hashPassword(randomBytes(32).toString('base64url'));
  nobodys.catch(() => undefined); // told to whoever awaits it
  return async (email, password) => {
    const holders = await passwordHolders(pool, email);
    if (holders.length === 0) {
      await passwordMatches(password, await nobodys);
      return [];
    }
    const fits = await Promise.all(
      holders.map(({ password_hash }) => passwordMatches(password, password_hash)),
    );
    return holders.filter((_, index) => fits[index]);
  };
}
