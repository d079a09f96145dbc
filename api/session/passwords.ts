import { createHmac } from 'node:crypto';
import {
  type Cost,
  hasCost,
  hashesMadeOf,
  hashOfNothing,
  hashPassword,
  LINK_COST,
  MEMBER_COST,
  SALT_BYTES,
} from '../../core/access/passwords.ts';
import { type PasswordHolder, passwordHolders, replacePasswordHash } from '../../sql/console/members.ts';
import type { Pool } from '../../sql/database/pool.ts';
import type { HashKey } from './hash-key.ts';

/**
 * The passwords of members.
 *
 * Anybody may make a member of any address in a workspace of their own, so no number of such members may keep another
 * one out, or make a try dear. All passwords of one email are therefore hashed with one salt, which only the deployment
 * can tell: a try costs one hash for each of the costs that hashes have had, however many workspaces know the email, and
 * every one of them is judged. An older hash is made anew when its password is there: with the next sign-in.
 */
export type MemberPasswords = {
  /** Hashes the password of a member with this email. */
  hash(email: string, password: string): Promise<string>;
  /**
   * Whose email and password these are, in every workspace where they fit, or in the one that is named, with the hash
   * that was found to fit. An unknown email costs the same work as a wrong password, so the time that an answer takes
   * tells nobody who is a member.
   */
  holders(email: string, password: string, workspaceId: string | null): Promise<PasswordHolder[]>;
};

/** @param cost of a new hash */
export function createMemberPasswords(pool: Pool, key: HashKey, cost: Cost = MEMBER_COST): MemberPasswords {
  // The older ones cost what those of links do.
  const costs: readonly Cost[] = [LINK_COST, cost];
  const saltOf = async (email: string): Promise<Buffer> =>
    createHmac('sha256', await key())
      .update(`password ${email}`)
      .digest()
      .subarray(0, SALT_BYTES);
  const hash = async (email: string, password: string) => hashPassword(password, cost, await saltOf(email));

  return {
    hash,
    async holders(email, password, workspaceId) {
      const holders = await passwordHolders(pool, email, workspaceId);
      const salt = await saltOf(email);
      const made = await hashesMadeOf(password, [
        ...holders.map(({ password_hash }) => password_hash),
        ...costs.map((one) => hashOfNothing(one, salt)),
      ]);
      const right = holders.filter(({ password_hash }) => made.has(password_hash));
      const older = right.filter(({ password_hash }) => !hasCost(password_hash, cost));
      if (older.length > 0) {
        const next = await hash(email, password);
        for (const holder of older) {
          await replacePasswordHash(pool, holder.member_id, holder.password_hash, next);
          holder.password_hash = next;
        }
      }
      return right;
    },
  };
}
