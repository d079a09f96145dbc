import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** What a hash costs to make. Stored in each, so that raising it leaves old ones valid. */
export type Cost = { readonly N: number; readonly r: number; readonly p: number };

/**
 * Of links: 16 MiB and about 40 ms, Node's default. Not more, because the redirect tier checks passwords on the same cores
 * that redirect, and answers 429 after five wrong ones.
 */
export const LINK_COST: Cost = { N: 2 ** 14, r: 8, p: 1 };
/**
 * Of members: about 200 ms. Of the costs that OWASP names (Password Storage Cheat Sheet, scrypt) the one that takes the
 * least memory, 16 MiB as well, so that many tries at once are no way to fill it.
 */
export const MEMBER_COST: Cost = { N: 2 ** 14, r: 8, p: 5 };
const KEY_BYTES = 32;
export const SALT_BYTES = 16;
const HASH = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/**
 * Hashes a password off the event loop: `scrypt$N$r$p$salt$key`, the last two in base64url.
 *
 * @param cost {@link LINK_COST} or {@link MEMBER_COST}
 * @param salt for passwords that are to be checked together, see {@link hashesMadeOf}; otherwise a new one
 */
export async function hashPassword(
  password: string,
  cost: Cost,
  salt: Buffer = randomBytes(SALT_BYTES),
): Promise<string> {
  return hashText(cost, salt, await derive(password, salt, cost));
}

/** A hash that no password has, of which {@link hashesMadeOf} makes as much work as of another. */
export function hashOfNothing(cost: Cost, salt: Buffer): string {
  return hashText(cost, salt, Buffer.alloc(1));
}

/** Whether a hash of ours was made at this cost. */
export function hasCost(hash: string, { N, r, p }: Cost): boolean {
  return hash.startsWith(`scrypt$${N}$${r}$${p}$`);
}

function hashText({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
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
