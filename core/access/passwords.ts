import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { isForeignHash, matchesForeignHash } from './foreign-hashes.ts';

/** Cost of a hash. Each hash contains it, so old hashes stay valid when it is raised. */
export type Cost = { readonly N: number; readonly r: number; readonly p: number };

/**
 * Cost for links: 16 MiB and about 40 ms, Node's default. The redirect tier checks these passwords on the cores of
 * the redirects, and responds with 429 after five wrong ones.
 */
export const LINK_COST: Cost = { N: 2 ** 14, r: 8, p: 1 };
/**
 * Cost for members: about 200 ms and 16 MiB. Of the costs in OWASP's Password Storage Cheat Sheet (scrypt) it takes the
 * least memory, so parallel attempts do not exhaust it.
 */
export const MEMBER_COST: Cost = { N: 2 ** 14, r: 8, p: 5 };
const KEY_BYTES = 32;
export const SALT_BYTES = 16;
const HASH = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]+)\$([A-Za-z0-9_-]+)$/;

/**
 * Hashes a password off the event loop: `scrypt$N$r$p$salt$key`, the last two in base64url.
 *
 * @param cost {@link LINK_COST} or {@link MEMBER_COST}
 * @param salt shared by passwords that are checked together, see {@link hashesMadeOf}; by default a new one
 */
export async function hashPassword(
  password: string,
  cost: Cost,
  salt: Buffer = randomBytes(SALT_BYTES),
): Promise<string> {
  return hashText(cost, salt, await derive(password, salt, cost));
}

/** Returns a hash that no password matches. {@link hashesMadeOf} takes as long for it as for any other. */
export function hashOfNothing(cost: Cost, salt: Buffer): string {
  return hashText(cost, salt, Buffer.alloc(1));
}

/** Returns whether a hash has this cost. */
export function hasCost(hash: string, { N, r, p }: Cost): boolean {
  return hash.startsWith(`scrypt$${N}$${r}$${p}$`);
}

function hashText({ N, r, p }: Cost, salt: Buffer, key: Buffer): string {
  return `scrypt$${N}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

/**
 * Returns whether `hash` is of `password`. Runs off the event loop, compares in constant time.
 *
 * @throws Error when `hash` is malformed
 */
export async function passwordMatches(password: string, hash: string): Promise<boolean> {
  return (await hashesMadeOf(password, [hash])).has(hash);
}

/**
 * Returns which of these hashes are of `password`. Hashes with the same salt and cost share one derivation; others
 * are derived one after another. Hashes of other services are those that imports keep.
 *
 * @throws Error when one of them is malformed
 */
export async function hashesMadeOf(password: string, hashes: readonly string[]): Promise<Set<string>> {
  const keys = new Map<string, Buffer>();
  const made = new Set<string>();
  for (const hash of new Set(hashes)) {
    const [, N, r, p, salt, key] = HASH.exec(hash) ?? [];
    if (!salt || !key) {
      if (!isForeignHash(hash)) throw new Error('a stored password hash is malformed');
      if (await matchesForeignHash(password, hash)) made.add(hash);
      continue;
    }
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

/** Derives the key of the normalized text: keyboards compose accented letters differently. */
function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, { ...cost, maxmem: 2 ** 28 }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
