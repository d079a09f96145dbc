import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/**
 * Cost of a new hash: 16 MiB and about 40 ms, Node's default. Stored in each hash, so that raising it leaves old ones
 * valid. Not more, because the redirect tier checks passwords on the same cores that redirect, and answers 429 after
 * five wrong ones.
 */
const COST = { N: 2 ** 14, r: 8, p: 1 } as const;
const KEY_BYTES = 32;
export const SALT_BYTES = 16;
const HASH = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/**
 * Hashes a password off the event loop: `scrypt$N$r$p$salt$key`, the last two in base64url.
 *
 * @param salt for passwords that are to be checked together, see {@link hashesMadeOf}; otherwise a new one
 */
export async function hashPassword(
  password: string,
  salt: Buffer = randomBytes(SALT_BYTES),
): Promise<string> {
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
  return (await hashesMadeOf(password, [hash])).has(hash);
}

/**
 * Which of these hashes {@link hashPassword} made of `password`. Those with the same salt and cost take one derivation
 * together, however many they are; different ones are derived one after another.
 *
 * @throws Error when one of them is no hash of ours
 */
export async function hashesMadeOf(password: string, hashes: readonly string[]): Promise<Set<string>> {
  const keys = new Map<string, Buffer>();
  const made = new Set<string>();
  for (const hash of new Set(hashes)) {
    const [, N, r, p, salt, key] = HASH.exec(hash) ?? [];
    if (!salt || !key) throw new Error('a stored password hash is malformed');
    const way = `${N}$${r}$${p}$${salt}`;
    const derived =
      keys.get(way) ??
      (await derive(password, Buffer.from(salt, 'base64url'), {
        N: Number(N),
        r: Number(r),
        p: Number(p),
      }));
    keys.set(way, derived);
    const stored = Buffer.from(key, 'base64url');
    if (derived.length === stored.length && timingSafeEqual(derived, stored)) made.add(hash);
  }
  return made;
}

/** The text is normalized, since keyboards differ in how they compose an accented letter. */
function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, { ...cost, maxmem: 2 ** 28 }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
