import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export type KeyKind = 'secret' | 'publishable' | 'partner';

const PREFIX: Record<KeyKind, string> = { secret: 'lk_live_', publishable: 'pk_live_', partner: 'pt_live_' };
const TOKEN = /^(lk|pk|pt)_live_([0-9a-f]{8})_[0-9a-f]{48}$/;
const KIND: Record<string, KeyKind> = { lk: 'secret', pk: 'publishable', pt: 'partner' };

/** A token, shown once: `lk_live_<8 hex>_<48 hex>`. Only `lookup` and `hash` are stored. */
export type MintedKey = { token: string; lookup: string; hash: Buffer };

/** Creates a key: 8 hex digits for the look-up, and 48 (24 random bytes) that are the secret. */
export function mintKey(kind: KeyKind): MintedKey {
  const lookup = randomBytes(4).toString('hex');
  const token = `${PREFIX[kind]}${lookup}_${randomBytes(24).toString('hex')}`;
  return { token, lookup, hash: hashKey(token) };
}

/** Parses a token; null when it does not have the form of a key. */
export function parseKey(token: string): { kind: KeyKind; lookup: string } | null {
  const match = TOKEN.exec(token);
  const kind = match?.[1] && KIND[match[1]];
  return kind && match[2] ? { kind, lookup: match[2] } : null;
}

/** Returns the SHA-256 of the whole token. */
function hashKey(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Returns whether `token` hashes to `hash`, compared in constant time. */
export function keyMatches(token: string, hash: Uint8Array): boolean {
  const own = hashKey(token);
  return own.length === hash.length && timingSafeEqual(own, hash);
}
