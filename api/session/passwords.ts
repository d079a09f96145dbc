import { createHmac } from 'node:crypto';
import { hashesMadeOf, hashPassword, SALT_BYTES } from '../../core/passwords.ts';
import { type PasswordHolder, passwordHolders } from '../../sql/members.ts';
import type { Pool } from '../../sql/pool.ts';
import type { HashKey } from './hash-key.ts';

/**
 * The passwords of members.
 *
 * Anybody may make a member of any address in a workspace of their own, so no number of such members may keep another
 * one out, or make a try dear. All passwords of one email are therefore hashed with one salt, which only the deployment
 * can tell: a try costs one hash however many workspaces know the email, and every one of them is judged.
 */
export type MemberPasswords = {
  /** Hashes the password of a member with this email. */
  hash(email: string, password: string): Promise<string>;
  /**
   * Whose email and password these are, in every workspace where they fit, or in the one that is named. An unknown email
   * costs the same work as a wrong password, so the time that an answer takes tells nobody who is a member.
   */
  holders(email: string, password: string, workspaceId: string | null): Promise<PasswordHolder[]>;
};

export function createMemberPasswords(pool: Pool, key: HashKey): MemberPasswords {
  const saltOf = async (email: string): Promise<Buffer> =>
    createHmac('sha256', await key())
      .update(`password ${email}`)
      .digest()
      .subarray(0, SALT_BYTES);
  const hash = async (email: string, password: string) => hashPassword(password, await saltOf(email));

  return {
    hash,
    async holders(email, password, workspaceId) {
      const holders = await passwordHolders(pool, email, workspaceId);
      if (holders.length === 0) {
        await hash(email, password);
        return [];
      }
      const right = await hashesMadeOf(
        password,
        holders.map(({ password_hash }) => password_hash),
      );
      return holders.filter(({ password_hash }) => right.has(password_hash));
    },
  };
}
