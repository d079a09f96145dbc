import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns the `user_hash` that proves a user's id: the HMAC-SHA256 of the id in UTF-8, in lower-case hexadecimal.
 *
 * @param secret the workspace's identity secret; its UTF-8 bytes are the key
 */
export function userHash(secret: string, externalUserId: string): string {
  return createHmac('sha256', secret).update(externalUserId).digest('hex');
}

/** Returns whether `given` is the `user_hash` of this user, in either case, compared in constant time. */
export function isUserHash(secret: string, externalUserId: string, given: string): boolean {
  const own = Buffer.from(userHash(secret, externalUserId));
  const other = Buffer.from(given.toLowerCase());
  return own.length === other.length && timingSafeEqual(own, other);
}
