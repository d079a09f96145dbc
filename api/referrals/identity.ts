import { isUserHash } from '../../core/access/user-hash.ts';
import { AppError } from '../../core/errors.ts';
import { identitySecret } from '../../sql/workspaces/identity-secrets.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';

/**
 * Returns whether the caller proved to act for this user: with a secret key, or with a valid `user_hash`.
 *
 * @param given the call's `user_hash`
 */
export async function hasProvenIdentity(
  { pool }: Pick<ApiDeps, 'pool'>,
  { workspace, key }: Auth,
  externalUserId: string,
  given: string | null | undefined,
): Promise<boolean> {
  if (key.kind === 'secret') return true;
  if (!given) return false;
  const secret = await identitySecret(pool, workspace.id);
  return secret !== null && isUserHash(secret, externalUserId, given);
}

/**
 * Requires the proof of a user's identity if the workspace demands it. A secret key needs none.
 *
 * @throws {AppError} `forbidden`
 */
export async function requireIdentity(
  deps: Pick<ApiDeps, 'pool'>,
  auth: Auth,
  externalUserId: string,
  given: string | null | undefined,
): Promise<void> {
  if (auth.workspace.identity_verification !== 'required') return;
  if (await hasProvenIdentity(deps, auth, externalUserId, given)) return;
  throw new AppError(
    'forbidden',
    given
      ? 'user_hash must be the hexadecimal HMAC-SHA256 of the user id under the identity secret'
      : 'this workspace requires a user_hash with a publishable key',
  );
}
