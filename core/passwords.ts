import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * Cost of a new hash: 16 MiB and about 40 ms, Node's default. Stored in each hash, so that raising it leaves old ones
 * valid. Not more, because the redirect tier checks passwords on the same cores that redirect, and answers 429 after
 * five wrong ones.
 */
const COST = { N: 2 ** 14, r: 8, p: 1 } as const;
const KEY_BYTES = 32;
const HASH = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/** Hashes a link's password off the event loop: `scrypt$N$r$p$salt$key`, the last two in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, COST);
  const { N, r, p } = COST;
  return `scrypt$${N}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/**
 * Whether `password` is the one that {@link hashPassword} made `hash` of. Off the event loop, in constant time.
 *
 * @throws Error when `hash` is no hash of ours
 */
export async function passwordMatches(password: string, hash: string): Promise<boolean> {
  const [, N, r, p, salt, key] = HASH.exec(hash) ?? [];
  if (!salt || !key) throw new Error('a stored password hash is malformed');
  const stored = Buffer.from(key, 'base64url');
  const derived = await derive(password, Buffer.from(salt, 'base64url'), {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  });
  return derived.length === stored.length && timingSafeEqual(derived, stored);
}

/** The text is normalized, since keyboards differ in how they compose an accented letter. */
function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, { ...cost, maxmem: 2 ** 28 }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
