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
import type { WeakPasswords } from './weak-passwords.ts';

/**
 * The passwords of members.
 *
 * Anyone may create a member with any address in a workspace of their own, and such members must neither lock out
 * another one nor make an attempt expensive. All passwords of one email therefore share one salt, which only the
 * deployment can derive. An attempt costs one hash for each cost in use, for any number of workspaces with the email. A
 * hash of an older cost is replaced at the next sign-in.
 */
export type MemberPasswords = {
  /**
   * Hashes a member's new password.
   *
   * @throws {AppError} `bad_request` for one that is easy to guess
   */
  hash(email: string, password: string): Promise<string>;
  /**
   * Returns the members with this email and password, in every workspace or in one, with the matching hash. An
   * unknown email costs the same work as a wrong password, so the response time does not reveal members.
   */
  holders(email: string, password: string, workspaceId: string | null): Promise<PasswordHolder[]>;
};

/** @param cost of new hashes */
export function createMemberPasswords(
  pool: Pool,
  key: HashKey,
  weak: WeakPasswords,
  cost: Cost = MEMBER_COST,
): MemberPasswords {
  // Older hashes have the cost of link passwords.
  const costs: readonly Cost[] = [LINK_COST, cost];
  const saltOf = async (email: string): Promise<Buffer> =>
    createHmac('sha256', await key())
      .update(`password ${email}`)
      .digest()
      .subarray(0, SALT_BYTES);
  const hash = async (email: string, password: string) => hashPassword(password, cost, await saltOf(email));

  return {
    async hash(email, password) {
      await weak.refuse(password, [email]);
      return hash(email, password);
    },
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
